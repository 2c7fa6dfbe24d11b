// SPDX-License-Identifier: MIT
#include "utf8_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neffld {
namespace {

struct Range {
  char32_t first, last;
};

/// No character of these is combining or the second part of a composed one (Unicode 14).
constexpr Range never_joined[] = {
    {0x0000, 0x02FF},    // ASCII, Latin, phonetic letters
    {0x0370, 0x0482},    // Greek, Cyrillic
    {0x0488, 0x0590},    // Cyrillic, Armenian
    {0x1E00, 0x20CF},    // Latin and Greek with diacritics, punctuation, currencies
    {0x20F1, 0x2CEE},    // letter-like signs, arrows, mathematics, boxes
    {0x2E00, 0x3029},    // punctuation, radicals
    {0x3030, 0x3098},    // Hiragana
    {0x309B, 0xA66E},    // Katakana, Bopomofo, CJK
    {0xAC00, 0xD7A3},    // Hangul syllables
    {0x1F000, 0x3FFFD},  // emoji, CJK
};

struct Decoded {
  char32_t code = 0;
  std::size_t length = 0;  ///< 0: these bytes are no character
};

/// The character at the start of `text`, which is not empty.
Decoded decode(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  char32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[length] || surrogate || code > 0x10FFFF) return {};
  return {code, length};
}

}  // namespace

std::optional<std::string> utf8_problem(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = decode(text.substr(at)).length;
    if (length == 0) {
      return fmt::format("is not UTF-8: byte 0x{:02x} at {} begins no character",
                         static_cast<unsigned char>(text[at]), at);
    }
    at += length;
  }
  return std::nullopt;
}

std::optional<std::string> joining_problem(std::string_view utf8) {
  for (std::size_t at = 0; at < utf8.size();) {
    const Decoded found = decode(utf8.substr(at));
    const bool alone = std::ranges::any_of(never_joined, [&](const Range& range) {
      return found.code >= range.first && found.code <= range.last;
    });
    if (!alone) {
      return fmt::format(
          "holds U+{:04X}, which readers that normalise Unicode may join with its "
          "neighbour and so see another name",
          static_cast<std::uint32_t>(found.code));
    }
    at += std::max<std::size_t>(found.length, 1);
  }
  return std::nullopt;
}

}  // namespace neffld
