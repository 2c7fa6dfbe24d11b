// SPDX-License-Identifier: MIT
// The executions a system trace has seen (spec 07 section 3.13).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "sys_trace.hpp"

namespace neffld::nrt {

/// Keeps executions while a trace is on, the latest ones of each core.
class ExecutionTrace {
 public:
  void start(const CaptureFilter& filter);
  void stop();
  /// An execution on a virtual core; nanoseconds of the device's clock.
  void add(std::uint32_t vnc, std::uint64_t begin_ns, std::uint64_t end_ns);
  /// Takes out the events of all cores or of one, at most `most` of each, as JSON: a pair of
  /// nc_exec_running events, start and stop, for each execution.
  std::string fetch(std::uint64_t most, std::optional<std::uint64_t> vnc);

 private:
  struct Span {
    std::uint64_t id, begin_ns, end_ns;
  };
  std::mutex mutex_;
  bool on_ = false;
  CaptureFilter filter_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint32_t, std::deque<Span>> by_core_;
};

}  // namespace neffld::nrt
