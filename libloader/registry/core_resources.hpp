// SPDX-License-Identifier: MIT
// What stays on a physical core across models: exec rings, scratchpad pages, GPSIMD
// libraries, queue ownership
// (decisions 33 and 34, spec 03 section 4).
#pragma once

#include <map>
#include <vector>

#include "device_calls.hpp"
#include "neffld/plan.hpp"

namespace neffld {

class CoreResources {
 public:
  explicit CoreResources(DeviceCalls& calls) : calls_(&calls) {}

  /// State of every core as the planner wants it.
  std::vector<CoreState> states(std::uint32_t cores) const;
  /// Addresses of the pages of a core.
  std::vector<std::uint64_t> page_addresses(std::uint32_t core) const;

  /// Counts a staged model in on its cores and takes over its shared allocations; the i-th memory
  /// belongs to `plan.requests[i]`. Changes nothing when it throws.
  void retain(const Plan& plan, std::span<const DeviceMemory> by_request);
  /// Counts a model out; frees what nobody needs any more, pages highest first.
  Result<void> release(const Plan& plan);

  /// TX ring, RX ring and request buffer of a core; empty without a model there.
  std::span<const DeviceMemory> exec_memory(std::uint32_t core) const;

  /// Model that owns the core's hardware queues, 0 = none.
  std::uint32_t queue_owner(std::uint32_t core) const;
  void set_queue_owner(std::uint32_t core, std::uint32_t h_model);

 private:
  /// A GPSIMD library that models of the core share, and its function table.
  struct SharedLibrary {
    LibraryId id{};
    std::array<DeviceMemory, 2> memory;
    std::uint32_t users = 0;
  };
  struct Core {
    std::vector<DeviceMemory> exec;
    std::vector<DeviceMemory> pages;
    std::vector<std::uint32_t> page_users;
    std::vector<SharedLibrary> libraries;  ///< in the order they were staged
    bool contiguous = false;               ///< the pages are; without pages it says nothing
    std::uint32_t models = 0;
    std::uint32_t queue_owner = 0;
  };
  static void retain_library(Core& core, const LibrarySetPlan& plan,
                             std::span<const DeviceMemory> by_request);
  Result<void> release_library(Core& core, const LibraryId& id);

  DeviceCalls* calls_;
  std::map<std::uint32_t, Core> cores_;
};

}  // namespace neffld
