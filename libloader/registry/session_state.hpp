// SPDX-License-Identifier: MIT
// What a session holds. session.cpp loads and unloads, session_bind.cpp binds, session_execute.cpp
// executes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "binding_switch.hpp"
#include "core_resources.hpp"
#include "core_unit.hpp"
#include "device_calls.hpp"
#include "neffld/session.hpp"
#include "ring_sets.hpp"

namespace neffld {

class PendingQueues;
class StageClock;

struct Session::State {
  explicit State(std::unique_ptr<DeviceFile> device)
      : file(std::move(device)), calls(*file), cores(calls) {}

  /// A model and its device memory. The memory goes first when it is destroyed.
  struct Entry {
    explicit Entry(DeviceCalls& calls) : own(calls) {}
    AllocationList own;  ///< plan order
    RingSetCache rings;  ///< rings of template sets; the first set is in force
    std::vector<DeviceMemory> by_request;
    /// Queues that point at rings of this model, where it owns the core.
    std::vector<neuron_dma_queue_init> programmed;
    std::uint32_t load_requests = 0;  ///< plan.requests before bind
    std::size_t ring_sets = 0;        ///< capacity of `rings`
    bool compute_checked = false;     ///< every compute record is one the device can run
    std::vector<TableHash> tables;    ///< by kbin, once executed
  };

  /// A model's memory in one binding.
  struct BoundMemory {
    Addresses addresses;
    std::vector<DeviceMemory> by_request;
    void append(std::span<const DeviceMemory> rings) {
      for (const DeviceMemory& ring : rings) {
        by_request.push_back(ring);
        addresses.sections.push_back(ring.pa);
      }
    }
  };

  std::unique_ptr<DeviceFile> file;
  DeviceCalls calls;
  DriverFacts facts;
  CoreResources cores;
  std::map<std::uint32_t, std::unique_ptr<CoreUnit>> units;  ///< by core, once it executed
  std::uint32_t last_nn = 0;
  std::uint64_t next_seq = 0;
  std::vector<std::unique_ptr<LoadedModel>> models;
  std::map<const LoadedModel*, Entry> entries;
  std::string memory_report;
  std::uint64_t hbm_bytes = 0;  ///< of LoadOptions

  using Bindings = std::map<std::string, std::uint64_t, std::less<>>;

  Result<void> allocate(const ParsedModel& parsed, const Plan& plan, const PlanOptions& options,
                        std::size_t first, AllocationList& list);
  Result<void> stage(LoadedModel& model, Entry& entry, const PlanOptions& plan_options,
                     const LoadOptions& options);
  Result<void> fill(LoadedModel& model, const Entry& entry, StageClock& clock,
                    std::deque<PendingQueues>& queues, const LoadOptions& options);
  bool cores_are_free(const LoadedModel& model) const;
  void own_cores(LoadedModel& model);
  void append_allocations(std::vector<AllocationInfo>& allocations, const Plan& plan,
                          std::span<const DeviceMemory> by_request, std::size_t first) const;
  Result<void> make_ring_set(const LoadedModel& model, const Plan& plan, BoundMemory& memory,
                             Ledger& ledger, RingSet& set);
  Result<BindingSwitch> prepare_switch(const LoadedModel& model, const Entry& entry,
                                       const Plan& plan, const BoundMemory& memory, bool in_force,
                                       Ledger& ledger) const;
  Result<void> check_bindings(const LoadedModel& model, const Bindings& io) const;
  Result<LoadedModel*> load(ParsedModel parsed, const LoadOptions& options);
  Result<void> bind(LoadedModel& model, Bindings io);
  Result<void> stop_queues(const LoadedModel& model, Entry& entry);
  Result<void> unload(LoadedModel& model);

  Result<void> check_executable(const LoadedModel& model, Entry& entry,
                                const ExecuteOptions& options);
  Result<std::vector<CoreUnit*>> units_of(const LoadedModel& model);
  Result<void> take_queues(LoadedModel& model, const Entry& entry, bool switched);
  Result<ExecutionReport> run(LoadedModel& model, Entry& entry, std::span<CoreUnit* const> on);
  Result<ExecutionReport> execute(LoadedModel& model, const ExecuteOptions& options);
};

}  // namespace neffld
