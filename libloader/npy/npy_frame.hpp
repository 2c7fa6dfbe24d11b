// SPDX-License-Identifier: MIT
// What every .npy file begins with: magic, version, length of the text header.
#pragma once

#include <cstdint>
#include <string_view>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

struct NpyFrame {
  unsigned version = 1;           ///< major: 1, 2 or 3
  std::uint64_t text_offset = 0;  ///< of the header's text, a Python literal
  std::uint64_t data_offset = 0;  ///< of the elements, behind the text
};

/// Finds the parts of a file of `size` bytes, which is called `name` in errors (the byte offset is
/// given, too), from its first bytes: all of them or at least 12. Versions above `newest` are
/// refused. The text is not looked at.
Result<NpyFrame> npy_frame(std::string_view name, Bytes first, std::uint64_t size, unsigned newest);

}  // namespace neffld
