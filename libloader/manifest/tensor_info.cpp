// SPDX-License-Identifier: MIT
#include "manifest/tensor_info.hpp"

#include <array>
#include <utility>

namespace neffld {

PublicDtype public_dtype(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, PublicDtype>, 11> table = {{
      {"float32", {10, 4}},
      {"float16", {7, 2}},
      {"bfloat16", {6, 2}},
      {"int8", {2, 1}},
      {"int16", {4, 2}},
      {"int32", {8, 4}},
      {"int64", {12, 8}},
      {"uint8", {3, 1}},
      {"uint16", {5, 2}},
      {"uint32", {9, 4}},
      {"uint64", {1, 8}},
  }};
  for (const auto& [known, dtype] : table) {
    if (known == name) return dtype;
  }
  return {0, 1};
}

std::optional<std::uint64_t> tensor_bytes(const std::vector<std::uint64_t>& shape,
                                          std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t dim : shape) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) return std::nullopt;
  }
  return bytes;
}

}  // namespace neffld
