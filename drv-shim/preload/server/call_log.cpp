// SPDX-License-Identifier: MIT
#include "call_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>

namespace neffld::shim {
namespace {

const char* access_name(std::uint32_t flags) {
  static const char* const names[] = {"read-only", "write-only", "read-write", "mode 3"};
  return names[flags & O_ACCMODE];
}

}  // namespace

CallLog::CallLog(std::shared_ptr<TraceWriter> writer, const std::string& device, bool simulated)
    : recorder_(std::move(writer), device, simulated) {}

Result<std::unique_ptr<CallLog>> CallLog::create(const std::string& path,
                                                 const TraceOptions& options,
                                                 const std::string& device, bool simulated) {
  NEFFLD_ASSIGN(auto writer, TraceWriter::create(path, options));
  return std::unique_ptr<CallLog>(new CallLog(std::move(writer), device, simulated));
}

void CallLog::say_caller(const Request& request, std::int32_t process) {
  const auto number = processes_.emplace(process, processes_.size() + 1).first->second;
  std::string caller = fmt::format("process {}, /dev/neuron{}, {}", number, request.device,
                                   access_name(request.flags));
  if (caller == caller_) return;
  recorder_.writer().info("caller", caller);
  caller_ = std::move(caller);
}

int CallLog::record(const Request& request, Remote& caller, const std::function<int()>& make) {
  const std::lock_guard lock(mutex_);
  const CallerScope scope(caller);
  const Result<void> said = no_throw([&]() -> Result<void> {
    say_caller(request, caller.process());
    return {};
  });
  if (!said) recorder_.writer().info("caller", "not recorded: out of memory");
  auto* const argument = reinterpret_cast<void*>(static_cast<std::uintptr_t>(request.argument));
  return recorder_.record(request.command, argument, make);
}

void CallLog::mapping(const Request& request, const Remote& caller, const TraceMapping& mapping) {
  const std::lock_guard lock(mutex_);
  say_caller(request, caller.process());
  recorder_.writer().mapping(mapping);
}

void CallLog::unmapping(std::uint64_t length) {
  const std::lock_guard lock(mutex_);
  recorder_.writer().mapping({0, length, false, false, true});
}

}  // namespace neffld::shim
