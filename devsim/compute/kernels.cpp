// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <array>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace neffld::compute {

#ifdef __x86_64__
namespace {

/// Not every compiler's __builtin_cpu_supports() knows the name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace
#endif

std::span<const Kernels* const> available_kernels() {
#ifdef __x86_64__
  static constexpr std::array<const Kernels*, 2> all = {&avx2_kernels, &portable_kernels};
  static const bool has_avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c();
  return std::span(all).subspan(has_avx2 ? 0 : 1);
#else
  static constexpr std::array<const Kernels*, 1> all = {&portable_kernels};
  return all;
#endif
}

}  // namespace neffld::compute
