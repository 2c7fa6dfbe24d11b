// SPDX-License-Identifier: MIT
// Compiled with -mavx2 -mfma -mf16c; only called where the processor has them.
#include <immintrin.h>

#include "kernels.hpp"

#define NEFFLD_KERNELS avx2_kernels
#define NEFFLD_KERNELS_NAME "avx2"
#include "kernels.inc"
