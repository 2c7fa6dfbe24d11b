// SPDX-License-Identifier: MIT
// The text header of a .npy file: a Python dictionary with three keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/error.hpp"

namespace neffld {

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Reads the dictionary strictly: each of descr, fortran_order and shape exactly once, plain
/// strings, non-negative numbers. `name` and `offset` (of the text in the file) are for errors.
Result<NpyHeader> read_npy_literal(std::string_view name, std::string_view text,
                                   std::uint64_t offset);

}  // namespace neffld
