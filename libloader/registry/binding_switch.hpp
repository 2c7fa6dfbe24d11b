// SPDX-License-Identifier: MIT
// What a bind changes of a model that is in use: cells and tables with addresses, and its queues.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "device_calls.hpp"
#include "neffld/relocate.hpp"

namespace neffld {

/// From one binding to the next and, when that fails, back. Everything is prepared before the first
/// device call, so that the way back needs no relocation.
struct BindingSwitch {
  /// Sections as they are to be, by request.
  using Contents = std::vector<std::pair<std::uint32_t, std::vector<std::uint8_t>>>;
  Contents cells, cells_before;
  std::vector<neuron_dma_queue_init> queues;
  std::vector<neuron_dma_queue_init> queues_before;  ///< rings of `queues` to put back

  /// A sink that keeps what it gets.
  static SectionSink keep_in(Contents& contents);

  /// Makes the switch. On failure the cells and queues of before are put back; `queues_lost` says
  /// that the driver refused to take the queues back.
  Result<void> apply(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                     bool& queues_lost) const;
};

}  // namespace neffld
