// SPDX-License-Identifier: MIT
// UTF-8 one character at a time, and which characters no terminal should get from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neffld {

struct Utf8Sequence {
  std::size_t length = 0;  ///< bytes, 0 = not UTF-8
  std::uint32_t code_point = 0;
};

/// What `text`, which is not empty, starts with: shortest form, no surrogate, at most U+10FFFF.
inline Utf8Sequence first_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code_point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t first_of_length[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (code_point < first_of_length[length] || code_point > 0x10FFFF || surrogate) return {};
  return {length, code_point};
}

/// Characters that move the cursor, break the line, reorder what stands beside them or cannot be
/// seen.
constexpr bool is_unsafe(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) ||  // C0, DEL, C1
         c == 0x61C ||                           // a direction mark
         (c >= 0x200B && c <= 0x200F) ||         // of no width, direction marks
         (c >= 0x2028 && c <= 0x202E) ||         // separators, embeddings, overrides
         (c >= 0x2060 && c <= 0x206F) ||         // joiners, isolates
         c == 0xFEFF;                            // of no width, or a mark of byte order
}

}  // namespace neffld
