// SPDX-License-Identifier: MIT
// The exec ring of a core: an incrementally filled ring that carries requests to its sequencer
// (spec 04 sections 6 and 9).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "device_calls.hpp"

namespace neffld {

/// Where the next descriptors of an incrementally filled ring go (sw_dma_queue): the index, and the
/// ring id that tells the device fresh descriptors from those of earlier laps.
class SoftwareQueue {
 public:
  explicit SoftwareQueue(std::uint32_t count) : count_(count) {}

  struct Slot {
    std::uint32_t index = 0, ring_id = 0;
  };
  /// The place `ahead` descriptors behind the next one; `ahead` < count.
  Slot at(std::uint32_t ahead) const {
    const std::uint32_t index = next_ + ahead;
    return index < count_ ? Slot{index, ring_id_} : Slot{index - count_, (ring_id_ + 1) & 3};
  }
  /// The next `used` descriptors were filled; `used` <= count.
  void advance(std::uint32_t used) {
    const Slot next = used < count_ ? at(used) : Slot{next_, (ring_id_ + 1) & 3};
    next_ = next.index;
    ring_id_ = next.ring_id;
  }
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
  std::uint32_t next_ = 0, ring_id_ = 1;
};

/// Both halves of an exec ring.
class ExecRing {
 public:
  /// `strong_order`: order writes with the RX flag, else with the TX barrier (decision 31).
  ExecRing(DeviceMemory tx, DeviceMemory rx, std::uint32_t count, bool strong_order)
      : tx_(tx), rx_(rx), queue_(count), strong_order_(strong_order) {}

  struct Copy {
    std::uint64_t from = 0, to = 0;
    std::uint32_t bytes = 0;  ///< 1..65536
  };
  /// Appends descriptor pairs, each a packet of its own. On failure the next append takes their
  /// place: the device stops at a pair of which one half is stale. At most `count` copies.
  Result<void> append(DeviceCalls& calls, std::span<const Copy> copies);

 private:
  Result<void> write(DeviceCalls& calls, const DeviceMemory& half, Bytes descriptors,
                     bool tx) const;

  DeviceMemory tx_, rx_;
  SoftwareQueue queue_;
  bool strong_order_;
};

}  // namespace neffld
