// SPDX-License-Identifier: MIT
// Finding the first byte that breaks a run of padding zeros.
#pragma once

#include <algorithm>

#include "neffld/bytes.hpp"

namespace neffld {

/// Offset of the first non-zero byte at or behind `begin`, or the size if all are zero.
inline std::size_t first_nonzero(Bytes bytes, std::size_t begin) {
  const Bytes tail = bytes.subspan(begin);
  // memcmp with itself shifted by one runs at memory speed; a byte loop would show in profiles of
  // archives that end in long padding.
  if (tail.empty() ||
      (tail[0] == 0 && std::memcmp(tail.data(), tail.data() + 1, tail.size() - 1) == 0)) {
    return bytes.size();
  }
  const auto found = std::find_if(tail.begin(), tail.end(), [](std::uint8_t b) { return b != 0; });
  return begin + static_cast<std::size_t>(found - tail.begin());
}

}  // namespace neffld
