// SPDX-License-Identifier: MIT
// Which lines go where, from the environment (spec 07 section 5.2).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "log.hpp"

namespace neffld::nrt {

struct LogSinks {
  Level console = Level::error;
  Level syslog = Level::disabled;
  Level file = Level::disabled;
  std::string path;  ///< of the file
};

struct LogSettings {
  LogSinks standard;
  /// By the first four bytes of the component's name, which is all that tells components apart.
  std::map<std::string, LogSinks, std::less<>> components;
  bool coalescing = true;
  std::vector<std::string> complaints;  ///< about values that make no sense

  const LogSinks& sinks(std::string_view component) const;
};

LogSettings read_log_settings();

}  // namespace neffld::nrt
