// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <fmt/format.h>
#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>

#include <array>
#include <iterator>

namespace neffld::cli {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Length of the valid UTF-8 sequence `text` starts with, 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  rapidjson::MemoryStream in(text.data(), text.size());
  unsigned code_point = 0;
  return rapidjson::UTF8<>::Decode(in, &code_point) ? in.Tell() : 0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    valid += length ? text.substr(0, length) : replacement;
    text.remove_prefix(length ? length : 1);
  }
  return valid;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace neffld::cli
