// SPDX-License-Identifier: MIT
#pragma once

#include "neffld/text.hpp"
