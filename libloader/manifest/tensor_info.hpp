// SPDX-License-Identifier: MIT
// dtype names of neff.json and tensor sizes (spec 01 section 7.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace neffld {

struct PublicDtype {
  std::uint32_t code;  ///< 0 = unknown
  std::uint32_t bytes;
};

/// Code and element size of a dtype name; unknown names are code 0 with one byte.
PublicDtype public_dtype(std::string_view name);

/// Product of `shape` times `element_bytes`; empty on overflow. An empty shape is one element.
std::optional<std::uint64_t> tensor_bytes(const std::vector<std::uint64_t>& shape,
                                          std::uint64_t element_bytes);

}  // namespace neffld
