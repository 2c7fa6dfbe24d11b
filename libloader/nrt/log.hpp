// SPDX-License-Identifier: MIT
// The runtime's log: line format, levels, sinks, and gathering the errors of one API call into one
// block (spec 07 section 5).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "neffld/error.hpp"

namespace neffld::nrt {

enum class Level : std::uint8_t { disabled, error, warn, info, debug, trace };

/// Reads NEURON_RT_LOG_LEVEL, NEURON_RT_LOG_LOCATION (both also with _COMPONENT) and
/// NEURON_RT_LOG_COALESCING_ENABLED anew. Happens by itself before the first line.
void configure_log();

/// Whether some sink takes lines of this level of the component.
bool log_enabled(Level level, std::string_view component);

/// Writes one message to every sink that takes it. A message of several lines is never torn apart.
void log(Level level, std::string_view component, std::string_view function,
         std::string_view message);

/// An error below the API: kept back until the API call that hits it ends, if coalescing is on.
void log_inner_error(std::string_view component, std::string_view function,
                     std::string_view message);

/// The API call's own error: writes it with everything kept back, newest first, as one message.
/// `hint`, if any, becomes the resolution at the end.
void log_api_error(std::string_view api, std::string_view message, std::string_view hint = {});

/// Brackets one API call in this thread: starts with nothing kept back and lets nothing get lost.
class LogScope {
 public:
  explicit LogScope(const char* api);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  const char* api_;
};

/// Takes the text of errors, line by line, besides all other sinks; an empty one ends that. It must
/// not log itself.
void set_kernel_log(std::function<void(std::string_view line)> sink);

/// Keeps the log usable in a forked child: hold it across fork(2), let go on both sides.
void lock_log_for_fork();
void unlock_log_after_fork();

}  // namespace neffld::nrt
