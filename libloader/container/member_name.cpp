// SPDX-License-Identifier: MIT
#include "member_name.hpp"

#include <fmt/format.h>

namespace neffld {
namespace {

constexpr std::size_t printed_name_bytes = 200;

/// Calls `rule` with each component of a path; true if any call is.
template <class Rule>
bool any_component(std::string_view name, Rule rule) {
  while (true) {
    const auto slash = name.find('/');
    if (rule(name.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string printable_name(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, printed_name_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F || byte == '\\') {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  if (name.size() > printed_name_bytes) text += fmt::format("... ({} bytes)", name.size());
  return text;
}

std::optional<std::string> name_problem(std::string_view name) {
  if (name.empty()) return "the member name is empty";
  if (name.find('\0') != std::string_view::npos) return "the member name holds a NUL";
  if (name.find('\n') != std::string_view::npos) return "the member name holds a newline";
  if (name.front() == '/') return "the member name is absolute; names are relative to the archive";
  if (any_component(name, [](std::string_view part) { return part == ".."; })) {
    return "the member name leaves the archive with '..'";
  }
  return std::nullopt;
}

std::optional<std::string> unpack_problem(std::string_view name) {
  if (auto problem = name_problem(name)) return problem;
  if (any_component(name, [](std::string_view part) { return part.empty() || part == "."; })) {
    return "the member name has an empty or '.' component and is no file name";
  }
  return std::nullopt;
}

}  // namespace neffld
