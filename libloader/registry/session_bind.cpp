// SPDX-License-Identifier: MIT
// Binds inputs and outputs of a loaded model to addresses: checks them, makes or finds the rings
// that name them and switches the model over.
#include <fmt/format.h>

#include <algorithm>

#include "session_state.hpp"
#include "stager.hpp"

namespace neffld {
namespace {

/// The memory of a session's models, to be asked who holds an address.
class TakenMemory {
 public:
  void add(const AllocationInfo& info) { by_address_.push_back(&info); }
  void sort() {
    std::sort(by_address_.begin(), by_address_.end(),
              [](const AllocationInfo* a, const AllocationInfo* b) { return a->pa < b->pa; });
  }
  /// An allocation that shares a byte with [address, address + size), or null. Allocations are
  /// disjoint, so it can only be the last one that starts at or before the address, or the next.
  const AllocationInfo* overlapping(std::uint64_t address, std::uint64_t size) const {
    const auto next =
        std::upper_bound(by_address_.begin(), by_address_.end(), address,
                         [](std::uint64_t a, const AllocationInfo* info) { return a < info->pa; });
    if (next != by_address_.begin()) {
      const AllocationInfo* before = *std::prev(next);
      if (address - before->pa < before->size) return before;
    }
    return next != by_address_.end() && (*next)->pa - address < size ? *next : nullptr;
  }

 private:
  std::vector<const AllocationInfo*> by_address_;
};

}  // namespace

/// Every input and output has an address, inside one HBM and on no memory of the loader's.
Result<void> Session::State::check_bindings(const LoadedModel& model, const Bindings& io) const {
  const ArchTable& arch = arch_table(model.plan.arch);
  TakenMemory memory;
  for (const auto& held : models) {
    for (const AllocationInfo& info : held->allocations) memory.add(info);
    const RingSetCache& rings = entries.at(held.get()).rings;
    // The set in front is among the model's allocations.
    rings.for_each_allocation(rings.front(), [&](const AllocationInfo& info) { memory.add(info); });
  }
  memory.sort();
  for (const auto* tensors : {&model.parsed.manifest.inputs, &model.parsed.manifest.outputs}) {
    for (const auto& [name, tensor] : *tensors) {
      const auto bound = io.find(name);
      if (bound == io.end()) {
        return fail(Status::invalid, ErrorClass::usage, {.path = name},
                    fmt::format("Failed to find tensor {} in tensor set", name));
      }
      const std::uint32_t hbm = hbm_of(arch, bound->second);
      if (hbm == arch.hbm_count ||
          tensor.size > arch.hbm_size - (bound->second - arch.hbm_base[hbm])) {
        return fail(Status::invalid, ErrorClass::usage, {.path = name},
                    fmt::format("address 0x{:x} and size {} lie outside every HBM of {}",
                                bound->second, tensor.size, arch_name(model.plan.arch)));
      }
      if (const AllocationInfo* taken = memory.overlapping(bound->second, tensor.size)) {
        return fail(Status::invalid, ErrorClass::usage, {.path = name},
                    fmt::format("address 0x{:x} and size {} overlap \"{}\" at 0x{:x}, {} bytes",
                                bound->second, tensor.size, taken->owner, taken->pa, taken->size));
      }
    }
  }
  return {};
}

/// Allocates the rings of `set`, puts them behind the memory of load time, and fills them.
Result<void> Session::State::make_ring_set(const LoadedModel& model, const Plan& plan,
                                           BoundMemory& memory, Ledger& ledger, RingSet& set) {
  const std::size_t first = memory.by_request.size();
  NEFFLD_TRY(allocate(model.parsed, plan, {}, first, set.memory));
  memory.append(set.memory.live());
  append_allocations(set.allocations, plan, memory.by_request, first);
  const SectionSink sink = device_sink(calls, memory.by_request, plan, {});
  return relocate_bound(model.parsed.kbins, plan, memory.addresses, ledger, sink);
}

/// What changes from the binding in force to the one `memory` describes.
Result<BindingSwitch> Session::State::prepare_switch(const LoadedModel& model, const Entry& entry,
                                                     const Plan& plan, const BoundMemory& memory,
                                                     bool in_force, Ledger& ledger) const {
  BindingSwitch change;
  const auto& kbins = model.parsed.kbins;
  if (!in_force) {
    Ledger unused;
    NEFFLD_TRY(relocate_pointers(kbins, plan, memory.addresses, ledger,
                                 BindingSwitch::keep_in(change.cells)));
    NEFFLD_TRY(relocate_pointers(kbins, model.plan, model.addresses, unused,
                                 BindingSwitch::keep_in(change.cells_before)));
  }
  // A core that another model owns gets its queues at the model switch; a core that nobody owns any
  // more gets all of this model's.
  if (!cores_are_free(model)) return change;
  if (!model.queues_initialised) change.queues = queue_inits(plan, memory.by_request, false);
  if (in_force && model.queues_initialised) return change;
  const auto bound = queue_inits(plan, memory.by_request, true);
  change.queues.insert(change.queues.end(), bound.begin(), bound.end());
  if (model.queues_initialised && model.bound) {
    change.queues_before = queue_inits(model.plan, entry.by_request, true);
  }
  return change;
}

Result<void> Session::State::bind(LoadedModel& model, Bindings io) {
  Entry& entry = entries.at(&model);
  if (!model.relocated) {
    return fail(Status::invalid, ErrorClass::usage, {},
                "the model is not relocated, expected a complete load before binding");
  }
  NEFFLD_TRY(check_bindings(model, io));

  // Everything is prepared beside the model; the model changes when nothing can fail any more. Plan
  // and ledger are the same for every binding: only addresses differ.
  const bool first = !model.bound;
  Plan bound_plan;
  Ledger ledger;
  if (first) {
    bound_plan = model.plan;
    ledger = model.ledger;
    NEFFLD_TRY(plan_bound_rings(model.parsed.kbins, bound_plan));
  }
  const Plan& plan = first ? bound_plan : model.plan;
  TensorKey key = tensor_key(model.parsed.kbins, io);
  BoundMemory memory{model.addresses, entry.by_request};
  memory.addresses.io = std::move(io);
  memory.addresses.sections.resize(entry.load_requests);
  memory.by_request.resize(entry.load_requests);

  RingSetCache::Sets fresh;
  auto set = entry.rings.find(key);
  const bool kept = set != entry.rings.end();
  const bool in_force = kept && set == entry.rings.begin();
  if (kept) {
    memory.append(set->memory.live());
  } else {
    set = fresh.emplace(fresh.end(), calls, std::move(key));
    NEFFLD_TRY(make_ring_set(model, plan, memory, ledger, *set));
  }
  std::vector<AllocationInfo> allocations(model.allocations.begin(),
                                          model.allocations.begin() + entry.load_requests);
  allocations.insert(allocations.end(), set->allocations.begin(), set->allocations.end());
  NEFFLD_ASSIGN(const BindingSwitch change,
                prepare_switch(model, entry, plan, memory, in_force, ledger));

  std::vector<neuron_dma_queue_init> programmed = entry.programmed;
  if (cores_are_free(model)) {
    programmed = queue_inits(plan, memory.by_request, false);
    const auto bound = queue_inits(plan, memory.by_request, true);
    programmed.insert(programmed.end(), bound.begin(), bound.end());
  }
  bool queues_lost = false;
  if (auto switched = change.apply(calls, memory.by_request, queues_lost); !switched) {
    if (queues_lost) model.queues_initialised = false;
    return switched;
  }

  if (kept) {
    entry.rings.use(set);
  } else {
    next_seq += set->memory.size();
    entry.rings.insert(fresh);
  }
  if (first) {
    model.plan = std::move(bound_plan);
    model.ledger = std::move(ledger);
  }
  model.addresses = std::move(memory.addresses);
  model.allocations = std::move(allocations);
  entry.by_request = std::move(memory.by_request);
  entry.programmed = std::move(programmed);
  model.bound = true;
  if (cores_are_free(model)) own_cores(model);
  entry.rings.evict(entry.ring_sets);
  return {};
}

}  // namespace neffld
