// SPDX-License-Identifier: MIT
#include "call_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include "no_throw.hpp"

namespace neffld::shim {
namespace {

const char* access_name(std::uint32_t flags) {
  static const char* const names[] = {"read-only", "write-only", "read-write", "mode 3"};
  return names[flags & O_ACCMODE];
}

}  // namespace

CallLog::CallLog(std::shared_ptr<TraceWriter> writer)
    : writer_(std::move(writer)), capture_(writer_->options().keep_data) {}

Result<std::unique_ptr<CallLog>> CallLog::create(const std::string& path,
                                                 const TraceOptions& options,
                                                 const std::string& device, bool simulated) {
  NEFFLD_ASSIGN(auto writer, TraceWriter::create(path, options));
  writer->info("device", device);
  writer->info("simulated", simulated ? "yes" : "no");
  writer->info("data", options.keep_data ? "kept" : "hashed");
  return std::unique_ptr<CallLog>(new CallLog(std::move(writer)));
}

void CallLog::say_caller(const Request& request, std::int32_t process) {
  const auto number = processes_.emplace(process, processes_.size() + 1).first->second;
  std::string caller = fmt::format("process {}, /dev/neuron{}, {}", number, request.device,
                                   access_name(request.flags));
  if (caller == caller_) return;
  writer_->info("caller", caller);
  caller_ = std::move(caller);
}

int CallLog::record(const Request& request, Remote& caller, const std::function<int()>& make) {
  const std::lock_guard lock(mutex_);
  const CallerScope scope(caller);
  auto* const argument = reinterpret_cast<void*>(static_cast<std::uintptr_t>(request.argument));
  TraceCall call;
  const Result<void> captured = no_throw([&]() -> Result<void> {
    say_caller(request, caller.process());
    call = capture_.before(calls_ + 1, request.command, argument);
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

void CallLog::mapping(const Request& request, const Remote& caller, const TraceMapping& mapping) {
  const std::lock_guard lock(mutex_);
  say_caller(request, caller.process());
  writer_->mapping(mapping);
}

void CallLog::unmapping(std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  writer_->mapping({0, length, false, false, true});
}

}  // namespace neffld::shim
