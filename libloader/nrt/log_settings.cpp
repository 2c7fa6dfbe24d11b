// SPDX-License-Identifier: MIT
#include "log_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "environment.hpp"
#include "neffld/text.hpp"

namespace neffld::nrt {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Words that switch a log off [ours]; the vendor's documents use QUIET.
bool means_silence(std::string_view text) {
  return text == "QUIET" || text == "NONE" || text == "DISABLED" || text == "OFF";
}

Level parse_level(std::string_view given, std::vector<std::string>& complaints) {
  static constexpr std::array<std::pair<std::string_view, Level>, 5> names = {
      {{"ERROR", Level::error},
       {"WARN", Level::warn},
       {"INFO", Level::info},
       {"DEBUG", Level::debug},
       {"TRACE", Level::trace}}};
  const std::string text = upper(given);
  if (means_silence(text)) return Level::disabled;
  for (const auto& [name, level] : names) {
    if (contains(text, name)) return level;
  }
  complaints.push_back(fmt::format("invalid level {}, default to ERROR", one_line(given)));
  return Level::error;
}

/// Puts `level` on the sinks a location names. A location that is neither of the two words nor
/// silence is a file to append to [ours].
LogSinks make_sinks(std::string_view location, Level level) {
  LogSinks sinks{Level::disabled, Level::disabled, Level::disabled, {}};
  const std::string text = upper(location);
  if (means_silence(text)) return sinks;
  const bool console = contains(text, "CONSOLE"), syslog = contains(text, "SYSLOG");
  if (console) sinks.console = level;
  if (syslog) sinks.syslog = level;
  if (!console && !syslog) {
    sinks.file = level;
    sinks.path = location;
  }
  return sinks;
}

}  // namespace

const LogSinks& LogSettings::sinks(std::string_view component) const {
  const auto found = components.find(component.substr(0, 4));
  return found == components.end() ? standard : found->second;
}

LogSettings read_log_settings() {
  static constexpr std::string_view level_name = "NEURON_RT_LOG_LEVEL";
  static constexpr std::string_view location_name = "NEURON_RT_LOG_LOCATION";
  LogSettings settings;
  struct Choice {
    std::optional<Level> level;
    std::optional<std::string> location;
  };
  Choice standard;
  std::map<std::string, Choice> by_component;
  const auto choice = [&](std::string_view suffix) -> Choice& {
    return suffix.empty() ? standard : by_component[upper(suffix.substr(1, 4))];
  };
  for (const auto& [name, value] : environment()) {
    if (value.empty()) continue;
    const auto suffix_of = [&name = name](std::string_view prefix) -> std::optional<std::string> {
      if (!name.starts_with(prefix)) return std::nullopt;
      const std::string suffix = name.substr(prefix.size());
      if (!suffix.empty() && (suffix[0] != '_' || suffix.size() < 2)) return std::nullopt;
      return suffix;
    };
    if (const auto suffix = suffix_of(level_name)) {
      choice(*suffix).level = parse_level(value, settings.complaints);
    } else if (const auto place = suffix_of(location_name)) {
      choice(*place).location = value;
    }
  }
  const Level level = standard.level.value_or(Level::error);
  const std::string location = standard.location.value_or("CONSOLE");
  settings.standard = make_sinks(location, level);
  for (const auto& [component, own] : by_component) {
    settings.components[component] =
        make_sinks(own.location.value_or(location), own.level.value_or(level));
  }
  if (const auto coalescing = get_env("NEURON_RT_LOG_COALESCING_ENABLED")) {
    const std::string text = upper(*coalescing);
    settings.coalescing = text != "0" && text != "FALSE";
    if (settings.coalescing && text != "1" && text != "TRUE") {
      settings.complaints.push_back(fmt::format(
          "Invalid value '{}' for NEURON_RT_LOG_COALESCING_ENABLED, expected 0 or 1; it is 1",
          one_line(*coalescing)));
    }
  }
  return settings;
}

}  // namespace neffld::nrt
