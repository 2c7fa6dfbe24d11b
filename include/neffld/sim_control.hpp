// SPDX-License-Identifier: MIT
// What may be asked of an in-process device beyond one open file: other processes, dup and fork,
// the facts the driver shows in sysfs, and how executions go on and what they do.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neffld/device_file.hpp"

namespace neffld {
namespace compute {
class DeviceCompute;
}

/// Access modes of open(2). A file with bit 0 set has free access: the driver does not attach its
/// process and serves only the commands of the miscellaneous lane (spec 06 section 2).
enum class Access : std::uint32_t { read_only = 0, write_only = 1, read_write = 2, mode_3 = 3 };

/// Opens a device of SimDevice::create as open(2) of process number `process` would. 0 or a
/// negative errno: -EBUSY (16 processes are attached), -ENOMEM.
int sim_open_as(SimDevice& device, std::int32_t process, Access access,
                std::unique_ptr<DeviceFile>& file) noexcept;

/// Another descriptor of an open file of a simulated device, as dup(2) gives it to the same process
/// and fork(2) to another. The file ends with its last descriptor. 0 or a negative errno: -EBADF
/// (no file of a simulated device), -ENOMEM.
int sim_share(const DeviceFile& file, std::int32_t process,
              std::unique_ptr<DeviceFile>& descriptor) noexcept;

/// The devices 0 to `count` - 1 of one host: they share core marks and are each other's neighbours.
/// Errors: a count that is not 1 to 64 (class usage), and those of SimDevice::create.
Result<std::vector<std::shared_ptr<SimDevice>>> sim_devices(const SimOptions& options,
                                                            std::uint32_t count);

/// A device whose host has a kernel with pages of 4096 (as with SimDevice::create), 16384 or 65536
/// bytes: mappings begin at multiples of them and are whole pages long, host memory too. Errors: as
/// SimDevice::create, which also refuses other page sizes.
Result<std::shared_ptr<SimDevice>> sim_device_with_pages(const SimOptions& options,
                                                         std::uint32_t page_bytes);

/// The text of a sysfs attribute by its path below the device's folder, such as "core_count" (spec
/// 06 section 8). Errors: there is no such attribute (class usage).
Result<std::string> sim_fact(SimDevice& device, const std::string& path);

/// Bytes of live allocations in the device's host memory.
std::uint64_t sim_live_host_bytes(const SimDevice& device) noexcept;

/// How often simulated devices of this process got no memory from it. What is answered then
/// (-ENOMEM) looks like device memory that is full.
std::uint64_t sim_memory_failures() noexcept;

/// The order in which executions go on. Seed 0, the initial one, is deterministic: engines take
/// turns, transfers are over when they are started. Any other seed lets a generator decide which
/// engine, ring or transfer moves next; equal seeds give equal orders, and programs must not see a
/// difference. `keep_ring_order` = false lets rings lose their order, which programs do see.
void sim_set_schedule(SimDevice& device, std::uint64_t seed, bool keep_ring_order = true) noexcept;

/// How long one doorbell may run the device; what has not ended then ends with
/// NEURON_EXEC_ENDLESS. 0 = as long as it takes, the initial value.
void sim_set_execution_limit(SimDevice& device, std::chrono::milliseconds limit) noexcept;

/// A record that an engine executed, and bytes that a ring or a direct transfer moved. Times are
/// nanoseconds of a monotonic clock.
struct SimRecordEvent {
  std::uint32_t core = 0, engine = 0;
  std::uint32_t slot = 0;  ///< in the engine's image
  std::uint8_t opcode = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
};
struct SimTransferEvent {
  std::uint32_t core = 0;
  bool direct = false;           ///< started by a record; else a descriptor pair of a ring
  std::uint32_t dma_engine = 0;  ///< of the device; meaningless if direct
  std::uint32_t queue = 0;       ///< direct: the engine that started it
  std::uint64_t bytes = 0;       ///< read
  std::uint64_t begin_ns = 0, end_ns = 0;
};

/// Watches executions. Called from the thread whose doorbell runs the device, which must not be
/// used meanwhile.
class SimObserver {
 public:
  virtual ~SimObserver() = default;
  virtual void record(const SimRecordEvent& event) noexcept = 0;
  virtual void transfer(const SimTransferEvent& event) noexcept = 0;
};

/// From now on `observer`, which must outlive the device or its replacement, watches; null =
/// nobody.
void sim_set_observer(SimDevice& device, SimObserver* observer) noexcept;

/// What executions did since the device was made.
struct SimExecutionCounters {
  std::uint64_t executions = 0;       ///< that reached their end
  std::uint64_t failures = 0;         ///< that an error ended or a later request gave up
  std::uint64_t records = 0;          ///< executed, of all kinds
  std::uint64_t compute_records = 0;  ///< of them, computed
  std::uint64_t skipped_compute = 0;  ///< of them, stepped over
  std::uint64_t direct_transfers = 0;
};
SimExecutionCounters sim_execution_counters(SimDevice& device) noexcept;

/// Test-only: what computes on a simulated device, to switch on a wrong reading of the rules
/// (devsim/compute/mutation.hpp). nullptr unless it was created with SimCompute::run.
compute::DeviceCompute* sim_compute(SimDevice& device) noexcept;

}  // namespace neffld
