// SPDX-License-Identifier: MIT
// What a physical core needs to execute and what is known of it: exec ring, notification rings, who
// ran last (spec 04 sections 9, 10 and 12).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec_ring.hpp"
#include "notification_ring.hpp"

namespace neffld {

/// SHA-256 over the engine tables of a subgraph; all zero: none.
using TableHash = std::array<std::uint8_t, 32>;

class CoreUnit {
 public:
  /// Programs the exec queue and the notification rings of a core from nothing, and wakes DMA
  /// engines that gave up. `exec`: TX ring, RX ring and request buffer of the core.
  static Result<std::unique_ptr<CoreUnit>> make(DeviceCalls& calls, DeviceFile& file,
                                                const ArchTable& arch, std::uint32_t core,
                                                std::span<const DeviceMemory> exec);

  std::uint32_t core() const { return core_; }

  /// Hands a request over; it starts with the doorbell. `one`: device address of a word that is 1.
  Result<void> arm(DeviceCalls& calls, const neuron_exec_request& request, std::uint64_t one);
  /// The doorbell. A simulated device runs before this returns (spec 04 section 12).
  Result<void> ring_doorbell(DeviceCalls& calls);

  NotificationRing& status(Engine engine) { return status_[static_cast<std::size_t>(engine)]; }
  NotificationRing& errors() { return errors_; }
  /// The device had no room for a record (interrupt line 61).
  Result<bool> overflowed(DeviceCalls& calls) const;

  std::uint32_t last_model = 0;  ///< H_MODEL of the last execution, 0 = none
  TableHash tables{};            ///< those that are in the engines

 private:
  CoreUnit(const ArchTable& arch, std::uint32_t core, ExecRing ring, DeviceMemory request,
           std::vector<NotificationRing> status, NotificationRing errors)
      : arch_(arch),
        core_(core),
        ring_(ring),
        request_(request),
        status_(std::move(status)),
        errors_(std::move(errors)) {}

  const ArchTable& arch_;
  std::uint32_t core_;
  ExecRing ring_;
  DeviceMemory request_;
  std::vector<NotificationRing> status_;  ///< by engine
  NotificationRing errors_;
};

}  // namespace neffld
