// SPDX-License-Identifier: MIT
#include "binding_switch.hpp"

namespace neffld {
namespace {

Result<void> write(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                   const BindingSwitch::Contents& contents, std::size_t& started) {
  for (const auto& [request, bytes] : contents) {
    ++started;
    NEFFLD_TRY(calls.copy_in(by_request[request].handle, 0, bytes));
  }
  return {};
}

}  // namespace

SectionSink BindingSwitch::keep_in(Contents& contents) {
  return [&contents](const SectionContent& content) -> Result<void> {
    contents.emplace_back(content.request,
                          std::vector<std::uint8_t>(content.bytes.begin(), content.bytes.end()));
    return {};
  };
}

Result<void> BindingSwitch::apply(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                                  bool& queues_lost) const {
  std::size_t started = 0;
  const auto inits = [&] { return calls.counts().at(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH); };
  const std::uint64_t inits_before = inits();
  auto switched = guarded([&]() -> Result<void> {
    NEFFLD_TRY(write(calls, by_request, cells, started));
    return queues.empty() ? Result<void>() : calls.init_queues(queues);
  });
  if (switched) return switched;
  // A queue init that failed has taken the rings from all of its queues.
  if (inits() != inits_before && !queues_before.empty()) {
    queues_lost = !guarded([&] { return calls.init_queues(queues_before); });
  }
  bool restored = !queues_lost;
  for (std::size_t i = 0; i < started; ++i) {
    const auto& before = cells_before[i];
    restored &= guarded([&] {
                  return calls.copy_in(by_request[before.first].handle, 0, before.second);
                }).has_value();
  }
  if (!restored) {
    // Without memory for these words the error stands as it is.
    static_cast<void>(guarded([&]() -> Result<void> {
      switched.error().text += "; the binding before could not be put back";
      return {};
    }));
  }
  return switched;
}

}  // namespace neffld
