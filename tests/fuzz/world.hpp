// SPDX-License-Identifier: MIT
// An in-process device with processes on it, and arguments that it accepts for every command of the
// table. The hostile matrix spoils them one field at a time, the fuzzer at random.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command_table.hpp"
#include "neffld/sim_control.hpp"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"

namespace neffld::test {

using Argument = std::vector<std::uint8_t>;

/// Driver generation, architecture and error style of a device.
struct Profile {
  std::uint32_t architecture = 3;
  std::uint32_t driver_minor = 24;
  bool clean = false;
  std::string name() const;
};

/// HBMs of this size keep fills of a whole HBM cheap. There is no small pool then.
inline constexpr std::uint64_t hbm_bytes = 64 << 20;

/// The first driver generation that knows a command. 2.24 takes every size of the zero-copy number.
std::uint32_t first_minor(const shim::CommandInfo& info);

/// Whether a value is a command of the profile, by its full value or by its number alone.
bool is_served(std::uint32_t value, const Profile& profile);

/// The memory arguments point to: one buffer for each pointer of a command, each in front of memory
/// that is not there, so that sizes of any kind meet a fault and not this program's own memory.
class Buffers {
 public:
  static constexpr std::size_t bytes = 0x10000, count = 4;
  explicit Buffers(std::uint64_t bar_address);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  std::uint8_t* at(std::size_t index) { return memory_ + index * 2 * bytes; }
  /// Addresses of registers, which are also texts that end and descriptors that are vetted.
  void fill();

 private:
  std::uint8_t* memory_;
  std::uint64_t bar_address_;
};

/// What sensible arguments name.
struct World {
  std::uint64_t first = 0, second = 0, ring = 0;  ///< handles
  std::uint64_t spare = 0;                        ///< what MEM_FREE may free
  std::uint64_t pa = 0;                           ///< of `first`
  std::uint64_t engine_window = 0;                ///< where PROGRAM_ENGINE may write
};

/// An argument that the device accepts; user pointers go to `buffers`.
Argument sensible(const shim::CommandInfo& info, const World& world, Buffers& buffers);

/// A device and the process that owns what `World` names.
class Playground {
 public:
  static constexpr std::int32_t owner_id = 1000;
  explicit Playground(const Profile& profile);

  const Profile& profile() const { return profile_; }
  SimDevice& device() const { return *device_; }
  const World& world() const { return world_; }
  Buffers& buffers() { return *buffers_; }
  std::unique_ptr<DeviceFile> open(std::int32_t process, Access access = Access::read_write) const;
  DeviceFile& owner() const { return *owner_; }
  std::uint64_t allocate(DeviceFile& file, std::uint64_t size, bool host = false) const;

  /// Everything a call may have changed that can be seen without changing it.
  struct State {
    SimDevice::Counters counters;
    std::vector<std::uint32_t> words;
    bool operator==(const State& other) const;
  };
  State state() const;
  /// Brings back what sensible calls change: resets the cores, which also frees the notification
  /// queues, programs the queue that COPY_START names, and allocates `spare` if it was freed.
  void restore();
  /// Closes every file and says whether the device is as it was before the first open. A handle of
  /// a carve-out stays, as on the real driver.
  bool abandon();

 private:
  void reset() const;
  void program_queue() const;

  Profile profile_;
  std::shared_ptr<SimDevice> device_;
  SimDevice::Counters at_first_;
  std::uint64_t host_bytes_at_first_ = 0;
  std::unique_ptr<DeviceFile> owner_, observer_;
  std::unique_ptr<Buffers> buffers_;
  World world_;
};

}  // namespace neffld::test
