// SPDX-License-Identifier: MIT
#include "environment.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "neffld/text.hpp"

namespace neffld::nrt {

std::vector<std::pair<std::string, std::string>> environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with("NEURON") || equals == std::string_view::npos) continue;
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::optional<std::string> get_env(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == 0) return std::nullopt;
  return value;
}

tl::unexpected<Error> bad_env(const char* name, std::string_view value, std::string_view allowed) {
  return fail(
      Status::invalid, ErrorClass::usage, {},
      fmt::format("Invalid value '{}' for {}, expected {}", one_line(value), name, allowed));
}

Result<std::optional<std::uint64_t>> get_env_number(const char* name, std::uint64_t limit) {
  const auto text = get_env(name);
  if (!text) return std::nullopt;
  const auto refused = [&] {
    return bad_env(name, *text, fmt::format("a number from 0 to {}", limit));
  };
  if (text->front() < '0' || text->front() > '9') return refused();
  char* end = nullptr;
  errno = 0;
  const std::uint64_t value = std::strtoull(text->c_str(), &end, 0);
  if (errno != 0 || *end != 0 || value > limit) return refused();
  return value;
}

Result<std::optional<bool>> get_env_bool(const char* name) {
  const auto text = get_env(name);
  if (!text) return std::nullopt;
  if (*text == "0" || strcasecmp(text->c_str(), "false") == 0) return false;
  if (*text == "1" || strcasecmp(text->c_str(), "true") == 0) return true;
  return bad_env(name, *text, "0, 1, true or false");
}

}  // namespace neffld::nrt
