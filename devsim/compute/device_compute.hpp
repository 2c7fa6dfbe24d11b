// SPDX-License-Identifier: MIT
// Compute of an in-process device: what nds_device_set_compute takes.
#pragma once

#include <string>
#include <vector>

#include "core.hpp"
#include "nds.h"

namespace neffld::compute {

/// Executes the compute records of all cores of one device. It must outlive the device or be
/// taken away from it.
class DeviceCompute {
 public:
  /// For `device` of this architecture. Throws std::bad_alloc.
  DeviceCompute(nds_device* device, Arch arch);
  DeviceCompute(const DeviceCompute&) = delete;
  DeviceCompute& operator=(const DeviceCompute&) = delete;

  /// The device's view of this object.
  nds_compute face() { return {this, start, run}; }

  /// Why the last record of a core was refused; empty when it was not.
  const std::string& refusal(std::uint32_t core) const { return cores_.at(core).refusal; }

  /// Test-only: from the next start on, one rule is read wrong (mutation.hpp).
  void mutate(Mutation mutation);

 private:
  struct CoreState {
    Core core;
    std::string refusal;
  };
  static int start(void* context, std::uint32_t core);
  static int run(void* context, std::uint32_t core, std::uint32_t engine,
                 const std::uint8_t* record, std::uint32_t* field);

  std::vector<CoreState> cores_;
};

}  // namespace neffld::compute
