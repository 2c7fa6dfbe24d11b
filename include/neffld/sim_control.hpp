// SPDX-License-Identifier: MIT
// What a test may ask of an in-process device beyond one open file: other processes, dup and fork,
// and the facts the driver shows in sysfs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neffld/device_file.hpp"

namespace neffld {

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

/// The text of a sysfs attribute by its path below the device's folder, such as "core_count" (spec
/// 06 section 8). Errors: there is no such attribute (class usage).
Result<std::string> sim_fact(SimDevice& device, const std::string& path);

/// Bytes of live allocations in the device's host memory.
std::uint64_t sim_live_host_bytes(const SimDevice& device) noexcept;

}  // namespace neffld
