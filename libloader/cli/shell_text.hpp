// SPDX-License-Identifier: MIT
// Lines for a shell.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace neffld::cli {

/// The line with which sh exports exactly this text.
inline std::string export_line(std::string_view name, std::string_view value) {
  std::string quoted;
  for (const char c : value) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return fmt::format("export {}='{}'\n", name, quoted);
}

}  // namespace neffld::cli
