// SPDX-License-Identifier: MIT
// Which devices there are and which virtual cores a process gets (spec 07 section 3.2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "config.hpp"
#include "neffld/arch.hpp"
#include "neffld/device_file.hpp"
#include "neffld/error.hpp"

namespace neffld::nrt {

/// A virtual core L is the physical cores [L * core_size, (L + 1) * core_size) counted over all
/// devices; it never spans two.
struct Topology {
  std::string device;  ///< name for open_device(): "sim:v2", "sim:v3", a path
  bool simulated = true;
  Arch arch = Arch::v3;
  std::uint32_t devices = 1;
  std::uint32_t cores_per_device = 8;                           ///< physical
  std::uint32_t core_size = 2;                                  ///< physical cores of a virtual one
  const char* core_size_variable = "NEURON_LOGICAL_NC_CONFIG";  ///< the one that may change it
  std::uint32_t family = 0, size = 9;  ///< NRT_INSTANCE_ and NRT_INSTANCE_SIZE_ numbers

  std::uint32_t total() const { return devices * (cores_per_device / core_size); }
  std::uint32_t device_of(std::uint32_t core) const {
    return core / (cores_per_device / core_size);
  }
  /// The virtual core's number on its device.
  std::uint32_t core_on_device(std::uint32_t core) const {
    return core % (cores_per_device / core_size);
  }
};

/// Finds the devices. A simulated instance has the shape NEURON_RT_FAKE_INSTANCE_TYPE names, one
/// device without it; a node is one device and is asked what it is. Errors: NRT_INVALID, starting
/// "Cannot find Neuron devices" when there is none.
Result<Topology> find_topology(const Config& config);

/// The cores init takes: those of NEURON_RT_VISIBLE_CORES, else the first NEURON_RT_NUM_CORES, else
/// all. Errors: NRT_INVALID for a request that makes no sense, NRT_FAILURE if there are not enough.
Result<CoreRange> choose_cores(const Config& config, const Topology& topology);

/// What choose_cores() would take, not validated, for questions before init.
std::uint32_t requested_cores(const Config& config, const Topology& topology);

/// "NCv3" for v3.
std::string public_arch_name(Arch arch);

}  // namespace neffld::nrt
