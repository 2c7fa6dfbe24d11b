// SPDX-License-Identifier: MIT
// A notification queue of a core as the host reads it (spec 04 section 10).
#pragma once

#include <cstdint>
#include <optional>

#include "device_calls.hpp"
#include "neuron_abi/execution.h"

namespace neffld {

/// Offset of the notific block of a core in the register BAR. `arch` is v2 or later.
std::uint64_t notific_block(Arch arch, std::uint32_t core);

/// A ring of records in host memory that the device fills. A record is new if its phase is the one
/// of the present lap: set on the first, then turned with each wrap.
class NotificationRing {
 public:
  static constexpr std::uint32_t records = NEURON_NQ_RING_BYTES / sizeof(neuron_notification);

  /// Makes a new ring on the device and maps it.
  static Result<NotificationRing> make(DeviceCalls& calls, DeviceFile& file, Arch arch,
                                       std::uint32_t core, neuron_nq_type type,
                                       std::uint32_t engine_index);
  NotificationRing(NotificationRing&& other) noexcept;
  NotificationRing& operator=(NotificationRing&&) = delete;
  ~NotificationRing();

  /// Takes the next new record, if there is one.
  std::optional<neuron_notification> next();
  /// Tells the device that the records taken so far may be overwritten.
  Result<void> release(DeviceCalls& calls);

 private:
  NotificationRing(DeviceFile& file, std::uint32_t* words, std::uint64_t head_register)
      : file_(&file), words_(words), head_register_(head_register) {}

  DeviceFile* file_;
  std::uint32_t* words_;  ///< the mapped ring
  std::uint64_t head_register_;
  std::uint32_t head_ = 0;      ///< next record to take
  std::uint32_t released_ = 0;  ///< head as the device knows it
  std::uint32_t phase_ = NEURON_NOTIFICATION_PHASE;
};

}  // namespace neffld
