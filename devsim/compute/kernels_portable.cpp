// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#define NEFFLD_KERNELS portable_kernels
#define NEFFLD_KERNELS_NAME "portable"
#include "kernels.inc"
