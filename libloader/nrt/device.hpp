// SPDX-License-Identifier: MIT
// One open device of the process: the loader's session on it, tensor memory, and how much of its
// memory each core holds.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core_marks.hpp"
#include "data_store.hpp"
#include "device_calls.hpp"
#include "neffld/session.hpp"
#include "topology.hpp"

namespace neffld::nrt {

class CountingFile;

/// What the environment says about every device.
struct DeviceSettings {
  bool skip_compute = false;  ///< a simulated device counts compute records and does not run them
};

class Device {
 public:
  /// Opens device `number` of the instance.
  static Result<std::shared_ptr<Device>> open(const Topology& topology, std::uint32_t number,
                                              const DeviceSettings& settings);
  ~Device();

  std::uint32_t number() const { return number_; }
  const ArchTable& arch() const { return arch_table(session_->arch()); }
  const DeviceTraits& traits() const { return session_->device(); }
  /// Compute records are to be run, so they have to be ones that can be.
  bool computes() const { return !settings_.skip_compute; }

  /// Runs `use(Session&)` alone: a session takes one thread at a time.
  template <class Use>
  auto with_session(Use&& use) {
    const std::scoped_lock lock(session_mutex_);
    return use(*session_);
  }

  /// Takes virtual cores of the device for this process; see CoreMarks::take().
  Result<CoreRange> reserve(const CoreRange& wanted, bool exact, const Topology& topology);
  DataStore& store() { return *store_; }
  /// Puts a line into the kernel's log, in pieces the driver takes; nothing comes of it where the
  /// driver has no such call.
  void print(std::string_view line) noexcept;

  // Tensor memory; from any thread.
  Result<DeviceMemory> allocate(std::uint64_t size, std::uint32_t hbm, std::uint32_t core,
                                std::string owner);
  Result<void> free(std::uint64_t handle);
  Result<void> copy_in(std::uint64_t handle, std::uint64_t offset, Bytes bytes);
  Result<void> copy_out(std::uint64_t handle, std::uint64_t offset, MutableBytes bytes);
  /// Maps an allocation into the process; null if the device cannot.
  void* map(const DeviceMemory& memory);
  void unmap(void* address, std::uint64_t size);

  /// Device bytes the process holds on a physical core.
  std::uint64_t bytes_on_core(std::uint32_t core) const;

 private:
  Device(std::uint32_t number, const DeviceSettings& settings, std::shared_ptr<CountingFile> file,
         std::unique_ptr<Session> session);

  std::uint32_t number_;
  DeviceSettings settings_;
  std::shared_ptr<CountingFile> file_;
  CoreMarks marks_;
  std::unique_ptr<DataStore> store_;  ///< `file_` reports to it
  std::mutex session_mutex_;
  std::unique_ptr<Session> session_;  ///< its destructor frees on `file_`
};

}  // namespace neffld::nrt
