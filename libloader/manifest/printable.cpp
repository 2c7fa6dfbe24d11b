// SPDX-License-Identifier: MIT
#include "manifest/printable.hpp"

#include <fmt/format.h>

namespace neffld {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 120;
  std::string result;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  if (text.size() > longest) {
    // A cut inside a UTF-8 sequence would leave half a character behind.
    while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0x80) != 0) {
      result.pop_back();
    }
    result += "...";
  }
  return result;
}

}  // namespace neffld
