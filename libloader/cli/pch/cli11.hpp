// SPDX-License-Identifier: MIT
// Precompiled for the command line: this header takes longer to read than our own code.
#ifndef NEFFLD_CLI_PCH_CLI11_HPP
#define NEFFLD_CLI_PCH_CLI11_HPP

#include <CLI/CLI.hpp>

#endif
