// SPDX-License-Identifier: MIT
// The out-of-memory report (spec 03 section 9.2): what was asked for, what is free, who has the
// rest, and what would make it fit.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "device_calls.hpp"
#include "neffld/session.hpp"

namespace neffld {

/// A load that ran out of device memory, while what it has allocated is still there.
struct FullDevice {
  DeviceCalls& calls;
  std::uint64_t hbm_bytes;                               ///< of each HBM, 0 = the architecture's
  std::span<const std::unique_ptr<LoadedModel>> models;  ///< loaded before
  /// Rings that models keep of earlier bindings.
  const std::map<const LoadedModel*, std::vector<AllocationInfo>>& kept;
  const ParsedModel& parsed;
  const Plan& plan;
  const PlanOptions& options;
  std::size_t first = 0;                    ///< first request of this load
  std::span<const DeviceMemory> allocated;  ///< memory of the requests from `first` on
};

/// Adds the facts to the error of the first request without memory, and puts the lines of the
/// report into `report`. Other errors come back as they are.
Error explain_out_of_memory(Error error, const FullDevice& full, std::string& report);

}  // namespace neffld
