// SPDX-License-Identifier: MIT
#include "neffld/text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "neffld/utf8.hpp"

namespace neffld {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

template <class Each>
void for_each_sequence(std::string_view text, Each each) {
  while (!text.empty()) {
    const Utf8Sequence sequence = first_sequence(text);
    each(sequence, sequence.length ? text.substr(0, sequence.length) : replacement);
    text.remove_prefix(sequence.length ? sequence.length : 1);
  }
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for_each_sequence(text, [&](Utf8Sequence, std::string_view bytes) { valid += bytes; });
  return valid;
}

std::string one_line(std::string_view text) {
  std::string line;
  for_each_sequence(text, [&](Utf8Sequence sequence, std::string_view bytes) {
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
