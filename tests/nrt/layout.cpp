// SPDX-License-Identifier: MIT
// The same pins, compiled as C++.
#include "layout.c"
