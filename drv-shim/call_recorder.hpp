// SPDX-License-Identifier: MIT
// Writes calls to a trace as they are made. For the recorder in the process and for the one of
// other programs' calls; both make one call at a time.
#pragma once

#include <memory>
#include <string>

#include "capture.hpp"
#include "no_throw.hpp"

namespace neffld::shim {

class CallRecorder {
 public:
  /// Writes the head of the trace; `device` is a name for people. Throws std::bad_alloc.
  CallRecorder(std::shared_ptr<TraceWriter> writer, const std::string& device, bool simulated)
      : writer_(std::move(writer)), capture_(writer_->options().keep_data) {
    static_cast<void>(all_commands());  // built here, where it may throw
    writer_->info("device", device);
    writer_->info("simulated", simulated ? "yes" : "no");
    writer_->info("data", writer_->options().keep_data ? "kept" : "hashed");
  }
  TraceWriter& writer() { return *writer_; }

  /// Makes the call, `make()`, and writes it down; its result. A call there is no memory to
  /// record is made all the same, and the trace says so.
  template <class Make>
  int record(std::uint32_t command, const void* argument, Make&& make) noexcept {
    TraceCall call;
    const Result<void> captured = no_throw([&]() -> Result<void> {
      call = capture_.before(calls_ + 1, command, argument);
      return {};
    });
    if (!captured) {
      writer_->info("not recorded", "a call: out of memory");
      return make();
    }
    ++calls_;
    writer_->begin(call);
    const int result = make();
    const Result<void> finished = no_throw([&]() -> Result<void> {
      capture_.after(call, argument, result);
      return {};
    });
    if (!finished) call.payloads.clear();  // half of them would read as all of them
    writer_->end(call);
    return result;
  }

 private:
  std::shared_ptr<TraceWriter> writer_;
  Capture capture_;
  std::uint64_t calls_ = 0;
};

}  // namespace neffld::shim
