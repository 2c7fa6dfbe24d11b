// SPDX-License-Identifier: MIT
#include "kernels.hpp"

#include <array>

namespace neffld::compute {

std::span<const Kernels* const> available_kernels() {
#ifdef __x86_64__
  static constexpr std::array<const Kernels*, 2> all = {&avx2_kernels, &portable_kernels};
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 &&
                               __builtin_cpu_supports("fma") != 0 &&
                               __builtin_cpu_supports("f16c") != 0;
  return std::span(all).subspan(has_avx2 ? 0 : 1);
#else
  static constexpr std::array<const Kernels*, 1> all = {&portable_kernels};
  return all;
#endif
}

}  // namespace neffld::compute
