// SPDX-License-Identifier: MIT
// The narrow waist: everything the loader does to a device is an ioctl on one of these.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "neffld/error.hpp"

namespace neffld {

/// What a back end knows about itself. The loader asks these questions instead of looking at
/// names: `simulated` decides whether encodings marked [ours] may be used (decision 24).
struct DeviceTraits {
  std::string name;        ///< "sim:v3", "/dev/neuron0"; printed in every report
  bool simulated = false;  ///< our own device model answers
};

/// One open file of a Neuron device. Closing is the destructor's job: it releases what the driver
/// releases when a process closes the node (spec 06 section 2).
class DeviceFile {
 public:
  virtual ~DeviceFile() = default;

  /// Sends a command exactly as ioctl(2) would. `command` is the full 32-bit value, `argument` the
  /// struct of include/neuron_abi/ioctl.h that belongs to it. Returns 0 on success, a negative
  /// errno, or the driver's own positive result; anything but 0 is a failure (spec 06 section 2).
  /// May be called from several threads.
  virtual int ioctl(std::uint32_t command, void* argument) noexcept = 0;

  /// Maps `length` bytes at a device offset (spec 06 section 6). Errors: status failure, class
  /// device. The mapping lives until `munmap`.
  virtual Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) = 0;
  virtual void munmap(void* address, std::uint64_t length) noexcept = 0;

  virtual const DeviceTraits& traits() const noexcept = 0;

  /// How long one doorbell may keep a device of this process busy, 0 = as long as it takes. Devices
  /// elsewhere take no notice: nothing but ioctls reaches them.
  virtual void limit_execution(std::chrono::milliseconds /*limit*/) noexcept {}

  /// Why the back end itself refused this thread's last call; empty if the device answered it.
  /// Messages quote it, so that a refusal of ours never looks like an answer of the driver.
  virtual std::string refusal() const { return {}; }
};

/// What a simulated device does with compute records of the programs it executes.
enum class SimCompute : std::uint8_t {
  run,     ///< computes them; a record that is not modelled ends the execution
  skip,    ///< steps over them: synchronisation and transfers are real, results are not
  refuse,  ///< ends the execution at the first one, as the kernel module does
};

/// Settings of the simulated device linked into the process.
struct SimOptions {
  std::uint32_t architecture = 3;   ///< 2 = v2 (trn1), 3 = v3 (trn2)
  std::uint64_t hbm_bytes = 0;      ///< size of each HBM, 0 = the real one (16 or 24 GiB)
  std::uint32_t driver_minor = 24;  ///< driver generation 2.24 (as measured), 2.27 or 2.30
  bool clean_errors = false;        ///< errnos where the driver returns positive residues
  SimCompute compute = SimCompute::run;
};

/// A simulated device inside this process. Every `open` is a file of the same device, as several
/// opens of one /dev node are. The device lives as long as its last file.
class SimDevice {
 public:
  static Result<std::shared_ptr<SimDevice>> create(const SimOptions& options);
  virtual ~SimDevice() = default;

  /// Opens the device for reading and writing, as a normal (attached) client.
  virtual Result<std::unique_ptr<DeviceFile>> open() = 0;

  /// Facts tests check: live handles, bytes in device memory, ioctls made so far.
  struct Counters {
    std::uint64_t live_handles = 0;
    std::uint64_t live_device_bytes = 0;
    std::uint64_t ioctls = 0;
  };
  virtual Counters counters() const = 0;
};

}  // namespace neffld
