// SPDX-License-Identifier: MIT
// The trace of a session: calls of all its processes and files in one order.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "call_recorder.hpp"
#include "protocol.hpp"
#include "remote.hpp"

namespace neffld::shim {

class CallLog {
 public:
  /// `device` as in the head of a trace.
  static Result<std::unique_ptr<CallLog>> create(const std::string& path,
                                                 const TraceOptions& options,
                                                 const std::string& device, bool simulated);

  /// Makes a call and writes it down; its result. One call at a time.
  int record(const Request& request, Remote& caller, const std::function<int()>& make);
  void mapping(const Request& request, const Remote& caller, const TraceMapping& mapping);
  void unmapping(std::uint64_t length);
  Result<void> finish() { return recorder_.writer().finish(); }

 private:
  CallLog(std::shared_ptr<TraceWriter> writer, const std::string& device, bool simulated);
  /// Says whose calls follow, if that has changed.
  void say_caller(const Request& request, std::int32_t process);

  std::mutex mutex_;
  CallRecorder recorder_;
  std::map<std::int32_t, unsigned> processes_;  ///< numbers by which the trace knows them
  std::string caller_;
};

}  // namespace neffld::shim
