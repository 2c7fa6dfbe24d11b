// SPDX-License-Identifier: MIT
// Precompiled for the command line: this header takes longer to read than our own code.
#pragma once

#include <CLI/CLI.hpp>
