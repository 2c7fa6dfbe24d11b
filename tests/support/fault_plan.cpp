// SPDX-License-Identifier: MIT
#include "fault_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "neffld/forwarding_file.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld::test {
namespace {

thread_local bool in_call = false;

bool allocates(std::uint32_t command) {
  return command == NEURON_IOCTL_MEM_ALLOC || command == NEURON_IOCTL_MEM_ALLOC_V2 ||
         command == NEURON_IOCTL_MEM_ALLOC_V2MT || command == NEURON_IOCTL_MEM_ALLOC_V2MT64 ||
         command == NEURON_IOCTL_MEM_ALLOC_V2MT64_PA;
}

bool copies(std::uint32_t command) {
  return command == NEURON_IOCTL_MEM_BUF_COPY64;
}

class FaultyFile final : public ForwardingFile {
 public:
  FaultyFile(std::unique_ptr<DeviceFile> inner, std::vector<Fault> plan,
             std::shared_ptr<FaultLog> log)
      : ForwardingFile(std::move(inner)), log_(std::move(log)) {
    for (const Fault& fault : plan) plan_.push_back({fault});
    log_->struck.reserve(plan.size());
  }

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const std::lock_guard lock(mutex_);
    ++log_->calls;
    const Fault* striking = nullptr;
    for (auto* const plan : {&plan_, &log_->later}) {
      for (PlannedFault& entry : *plan) {
        if (strikes(entry, command, argument) && striking == nullptr) striking = &entry.fault;
      }
    }
    if (striking == nullptr) return pass(command, argument);
    if (log_->on_strike) log_->on_strike();
    switch (striking->kind) {
      case Fault::Kind::answer:
      case Fault::Kind::gone:
        return striking->answer;
      case Fault::Kind::after:
        static_cast<void>(pass(command, argument));
        return striking->answer;
      case Fault::Kind::short_copy:
        return half_copy(command, argument);
      case Fault::Kind::out_of_memory:
        return -ENOMEM;
      case Fault::Kind::nothing:
        return pass(command, argument);
    }
    return -EINVAL;
  }

 private:
  bool strikes(PlannedFault& entry, std::uint32_t command, const void* argument) {
    const Fault& fault = entry.fault;
    if (fault.kind == Fault::Kind::out_of_memory) {
      if (!allocates(command)) return false;
      const std::uint64_t left = fault.nth - std::min(fault.nth, log_->allocated);
      // Every form of the call begins with the size.
      if (*static_cast<const std::uint64_t*>(argument) <= left) return false;
      if (!std::exchange(entry.struck, true)) log_->struck.push_back(command);
      return true;
    }
    if (fault.kind == Fault::Kind::gone && entry.struck) return true;
    if (entry.struck || (fault.command && *fault.command != command)) return false;
    if (fault.kind == Fault::Kind::short_copy && !copies(command)) return false;
    if (++entry.seen != fault.nth) return false;
    entry.struck = true;
    log_->struck.push_back(command);
    return true;
  }

  int pass(std::uint32_t command, void* argument) {
    const int answer = call(command, argument);
    if (answer == 0 && allocates(command)) {
      log_->allocated += *static_cast<const std::uint64_t*>(argument);
    }
    return answer;
  }

  int call(std::uint32_t command, void* argument) {
    in_call = true;
    const int answer = inner_->ioctl(command, argument);
    in_call = false;
    return answer;
  }

  int half_copy(std::uint32_t command, void* argument) {
    auto half = *static_cast<const neuron_mem_buf_copy64*>(argument);
    const std::uint64_t rest = half.size - half.size / 2;
    half.size /= 2;
    const int answer = half.size == 0 ? 0 : call(command, &half);
    return answer != 0 ? answer : static_cast<int>(rest);
  }

  std::shared_ptr<FaultLog> log_;
  std::vector<PlannedFault> plan_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<DeviceFile> plan_faults(std::unique_ptr<DeviceFile> device, std::vector<Fault> plan,
                                        std::shared_ptr<FaultLog> log) {
  return std::make_unique<FaultyFile>(std::move(device), std::move(plan), std::move(log));
}

void plan_later(FaultLog& log, const Fault& fault) {
  log.later.assign(1, {fault});
  log.struck.clear();
  log.struck.reserve(1);
}

bool in_device_call() {
  return in_call;
}

}  // namespace neffld::test
