// SPDX-License-Identifier: MIT
#include "neffld/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>

namespace neffld {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct Sequence {
  std::size_t length = 0;  ///< bytes, 0 = not UTF-8
  std::uint32_t code_point = 0;
};

/// The UTF-8 sequence `text` starts with: shortest form, no surrogate, at most U+10FFFF.
Sequence first_sequence(std::string_view text) {
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

/// Characters that move the cursor, break the line or reorder what stands beside them.
bool is_unsafe(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) ||       // C0, DEL, C1
         c == 0x61C || c == 0x200E || c == 0x200F ||  // direction marks
         (c >= 0x2028 && c <= 0x202E) ||              // separators, embeddings, overrides
         (c >= 0x2066 && c <= 0x2069);                // isolates
}

template <class Each>
void for_each_sequence(std::string_view text, Each each) {
  while (!text.empty()) {
    const Sequence sequence = first_sequence(text);
    each(sequence, sequence.length ? text.substr(0, sequence.length) : replacement);
    text.remove_prefix(sequence.length ? sequence.length : 1);
  }
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for_each_sequence(text, [&](Sequence, std::string_view bytes) { valid += bytes; });
  return valid;
}

std::string one_line(std::string_view text) {
  std::string line;
  for_each_sequence(text, [&](Sequence sequence, std::string_view bytes) {
    if (sequence.length == 0 || !is_unsafe(sequence.code_point)) {
      line += bytes;
    } else if (sequence.code_point < 0x80) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", sequence.code_point);
    } else {
      fmt::format_to(std::back_inserter(line), "\\u{{{:x}}}", sequence.code_point);
    }
  });
  return line;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace neffld
