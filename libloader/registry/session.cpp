// SPDX-License-Identifier: MIT
// A session: one open device, its models, and the passes that load and unload one.
#include "neffld/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include "fan_out.hpp"
#include "neuron_abi/address_map.h"
#include "out_of_memory.hpp"
#include "session_state.hpp"
#include "stager.hpp"
#include "stopwatch.hpp"

namespace neffld {
namespace {

/// Process-wide, never 0 (spec 04 section 1).
std::uint32_t mint_h_model() {
  static std::atomic<std::uint32_t> last{0};
  std::uint32_t id = ++last;
  if (id == 0) id = ++last;
  return id;
}

/// A model runs on the architecture it was built for. One that was let in for another
/// (allow_legacy) keeps its own address map, which only a simulated device survives.
Result<void> check_arch_of(const ParsedModel& model, Arch device, const DeviceTraits& traits) {
  if (model.manifest.arch == device || (model.foreign_arch && traits.simulated)) return {};
  return unsupported({},
                     fmt::format("a model for {} cannot be loaded on a {} device: their address "
                                 "maps differ",
                                 arch_name(model.manifest.arch), arch_name(device)));
}

/// What this device cannot run although the file is legal.
Result<void> check_device_support(std::span<const Kbin> kbins, const Plan& plan,
                                  const DeviceTraits& traits) {
  if (!arch_table(plan.arch).caps.staging) {
    return unsupported({}, fmt::format("staging for {} is not supported: no device exists to check "
                                       "it against (parse, build and plan work)",
                                       arch_name(plan.arch)));
  }
  if (traits.simulated) return {};
  for (std::size_t i = 0; i < kbins.size(); ++i) {
    for (std::size_t set = 0; set < plan.kbins[i].queue_sets.size(); ++set) {
      if (!plan.kbins[i].queue_sets[set].uses_cast) continue;
      return unsupported({kbins[i].name, kbins[i].queue_sets[set].name, std::nullopt, std::nullopt},
                         "DMA cast encoding is not known for this device; it runs on "
                         "the simulated device");
    }
  }
  return {};
}

}  // namespace

/// Queues whose rings lie in memory that may still be taken back. Declare it behind the owner of
/// that memory, so that queues lose their rings first.
class PendingQueues {
 public:
  explicit PendingQueues(DeviceCalls& calls) : calls_(&calls) {}
  ~PendingQueues() { drop(); }
  PendingQueues(const PendingQueues&) = delete;
  PendingQueues& operator=(const PendingQueues&) = delete;

  Result<void> add(std::span<const neuron_dma_queue_init> inits) {
    inits_.reserve(inits_.size() + inits.size());
    NEFFLD_TRY(calls_->init_queues(inits));
    inits_.insert(inits_.end(), inits.begin(), inits.end());
    return {};
  }
  void drop() noexcept {
    calls_->drop_rings(inits_);
    inits_.clear();
  }
  /// The memory stays.
  void keep() { inits_.clear(); }

 private:
  DeviceCalls* calls_;
  std::vector<neuron_dma_queue_init> inits_;
};

/// Appends the requests from `first` on as the report shows them, numbered from `next_seq`.
void Session::State::append_allocations(std::vector<AllocationInfo>& allocations, const Plan& plan,
                                        std::span<const DeviceMemory> by_request,
                                        std::size_t first) const {
  std::uint64_t seq = next_seq;
  for (std::size_t i = first; i < plan.requests.size(); ++i) {
    const Request& request = plan.requests[i];
    const DeviceMemory& memory = by_request[i];
    allocations.push_back({seq++, memory.pa, memory.size, request.size, request.align,
                           static_cast<std::uint32_t>(request.category), request.hbm, request.core,
                           request.usage, memory.handle, request.owner});
  }
}

/// True when no other model owns one of the model's cores (decision 33).
bool Session::State::cores_are_free(const LoadedModel& model) const {
  return std::all_of(model.plan.kbins.begin(), model.plan.kbins.end(), [&](const KbinPlan& kbin) {
    const std::uint32_t owner = cores.queue_owner(kbin.core);
    return owner == 0 || owner == model.h_model;
  });
}

/// Makes the model the owner of its cores' queues.
void Session::State::own_cores(LoadedModel& model) {
  for (const KbinPlan& kbin : model.plan.kbins) cores.set_queue_owner(kbin.core, model.h_model);
  model.queues_initialised = true;
}

/// The device build of every subgraph: writes its sections and programs its core's queues, each in
/// a thread of its own. All addresses are known before, so that threads change nothing about them.
Result<void> Session::State::fill(LoadedModel& model, const Entry& entry, StageClock& clock,
                                  std::deque<PendingQueues>& queues, const LoadOptions& options) {
  const auto count = static_cast<std::uint32_t>(model.parsed.kbins.size());
  std::mutex progress;
  std::uint64_t copied = 0;
  const SectionSink sink =
      device_sink(calls, entry.by_request, model.plan, [&](std::uint64_t bytes) {
        const std::scoped_lock lock(progress);
        copied += bytes;
        clock.advance(bytes);
      });
  const bool program_queues = cores_are_free(model);
  std::vector<Ledger> ledgers(count);
  for (std::uint32_t i = 0; i < count; ++i) queues.emplace_back(calls);
  const auto build = [&](std::uint32_t i) -> Result<void> {
    NEFFLD_TRY(relocate_kbin(model.parsed.kbins, model.plan, model.addresses, ledgers[i], sink, i));
    if (!program_queues) return {};
    return queues[i].add(queue_inits(model.plan.kbins[i], entry.by_request, false));
  };
  const auto undo = [&](std::uint32_t i) { queues[i].drop(); };
  NEFFLD_TRY(fan_out(count, build, undo, options.one_thread));
  for (Ledger& ledger : ledgers) model.ledger.take(std::move(ledger));
  model.queues_initialised = program_queues;
  model.relocated = true;
  clock.finish(copied);
  return {};
}

/// Allocates the requests from `first` on in order; `plan` was made with `options`.
Result<void> Session::State::allocate(const ParsedModel& parsed, const Plan& plan,
                                      const PlanOptions& options, std::size_t first,
                                      AllocationList& list) {
  memory_report.clear();
  auto allocated = allocate_all(calls, std::span(plan.requests).subspan(first), list);
  if (allocated) return {};
  // The report looks at the device while the list still holds what there was room for.
  std::map<const LoadedModel*, std::vector<AllocationInfo>> kept;
  for (const auto& [model, entry] : entries) {
    std::vector<AllocationInfo>& of_model = kept[model];
    entry.rings.for_each_allocation(entry.rings.front(),
                                    [&](const AllocationInfo& info) { of_model.push_back(info); });
  }
  return tl::unexpected<Error>(explain_out_of_memory(
      std::move(allocated.error()),
      {calls, hbm_bytes, models, kept, parsed, plan, options, first, list.live()}, memory_report));
}

/// Allocates in the plan's order, then fills every section.
Result<void> Session::State::stage(LoadedModel& model, Entry& entry,
                                   const PlanOptions& plan_options, const LoadOptions& options) {
  StageClock clock(model.parsed.times, options.progress);
  clock.start(Stage::stage);
  AllocationList all(calls);
  NEFFLD_TRY(allocate(model.parsed, model.plan, plan_options, 0, all));
  std::deque<PendingQueues> queues;
  entry.by_request.assign(all.live().begin(), all.live().end());
  std::uint64_t allocated = 0;
  for (const DeviceMemory& memory : all.live()) {
    model.addresses.sections.push_back(memory.pa);
    allocated += memory.size;
  }
  for (const KbinPlan& kbin : model.plan.kbins) {
    model.addresses.scratchpad_pages[kbin.core] = cores.page_addresses(kbin.core);
  }
  for (std::size_t i = 0; i < model.plan.requests.size(); ++i) {
    const Request& request = model.plan.requests[i];
    if (request.kind != SectionKind::scratchpad_page) continue;
    model.addresses.scratchpad_pages[request.core].push_back(entry.by_request[i].pa);
  }
  NEFFLD_TRY(check_pages(model.plan, model.addresses));
  clock.finish(allocated);

  if (options.until != Stage::stage) {
    clock.start(Stage::relocate, planned_content_bytes(model.plan));
    NEFFLD_TRY(fill(model, entry, clock, queues, options));
    if (model.queues_initialised) {
      entry.programmed = queue_inits(model.plan, entry.by_request, false);
    }
  }

  // Only host memory can fail from here on, and ownership moves after the last thing that can.
  append_allocations(model.allocations, model.plan, entry.by_request, 0);
  entry.own.reserve(model.plan.requests.size());
  cores.retain(model.plan, entry.by_request);
  for (std::size_t i = 0; i < model.plan.requests.size(); ++i) {
    if (!model.plan.requests[i].shared) entry.own.add(entry.by_request[i]);
  }
  next_seq += all.size();
  for (PendingQueues& pending : queues) pending.keep();
  all.forget();
  return {};
}

Result<LoadedModel*> Session::State::load(ParsedModel parsed, const LoadOptions& options) {
  calls.free_refused();
  auto model = std::make_unique<LoadedModel>();
  model->parsed = std::move(parsed);
  NEFFLD_TRY(check_arch_of(model->parsed, facts.arch, file->traits()));

  // Plan: every allocation and every size, before the first device call of this model.
  hbm_bytes = options.hbm_bytes;
  PlanOptions plan_options;
  plan_options.logical_core = options.logical_core;
  plan_options.logical_core_size = options.logical_core_size;
  plan_options.scratchpad = options.scratchpad;
  plan_options.driver_has_contiguous = (facts.features & NEURON_FEATURE_CONTIGUOUS_SCRATCHPAD) != 0;
  plan_options.max_ring_bytes = options.max_ring_bytes;
  plan_options.packet_bytes = options.packet_bytes;
  plan_options.cores = cores.states(arch_table(facts.arch).cores_per_device);
  NEFFLD_ASSIGN(model->plan, plan_parsed_model(model->parsed, plan_options, options.progress));
  NEFFLD_TRY(check_device_support(model->parsed.kbins, model->plan, file->traits()));

  // Room in the registry first, so that registering cannot fail after staging.
  model->h_model = mint_h_model();
  models.reserve(models.size() + 1);
  const auto entry = entries.try_emplace(model.get(), calls).first;
  entry->second.load_requests = static_cast<std::uint32_t>(model->plan.requests.size());
  entry->second.ring_sets = std::max<std::size_t>(1, options.io_ring_sets);

  // Stage and relocate.
  auto staged = guarded([&] { return stage(*model, entry->second, plan_options, options); });
  if (!staged) {
    entries.erase(entry);
    return tl::unexpected<Error>(std::move(staged.error()));
  }
  if (model->queues_initialised) own_cores(*model);

  // Register: the model is READY.
  model->h_nn = ++last_nn;
  models.push_back(std::move(model));
  return models.back().get();
}

/// The memory of the model's rings is freed next, so its queues must not point there any more. On
/// hardware, queues are left alone unless somebody asks for it (decision 24).
Result<void> Session::State::stop_queues(const LoadedModel& model, Entry& entry) {
  if (!file->traits().simulated) return {};
  std::erase_if(entry.programmed, [&](const neuron_dma_queue_init& init) {
    return cores.queue_owner(init.eng_id / NEURON_DMA_ENGINES_PER_CORE) != model.h_model;
  });
  return calls.stop_queues(entry.programmed);
}

Result<void> Session::State::unload(LoadedModel& model) {
  calls.free_refused();
  const auto entry = entries.find(&model);
  Result<void> first = guarded([&] { return stop_queues(model, entry->second); });
  auto rings = entry->second.rings.release();
  if (first && !rings) first = std::move(rings);
  auto own = entry->second.own.release();
  if (first && !own) first = std::move(own);
  auto shared = cores.release(model.plan);
  if (first && !shared) first = std::move(shared);
  for (const KbinPlan& kbin : model.plan.kbins) {
    if (cores.queue_owner(kbin.core) == model.h_model) cores.set_queue_owner(kbin.core, 0);
    if (cores.exec_memory(kbin.core).empty()) units.erase(kbin.core);  // its exec ring is gone
  }
  entries.erase(entry);
  std::erase_if(models, [&](const auto& held) { return held.get() == &model; });
  return first;
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

Session::~Session() {
  while (!state_->models.empty()) static_cast<void>(state_->unload(*state_->models.back()));
}

Result<std::unique_ptr<Session>> Session::open(std::unique_ptr<DeviceFile> device) {
  return guarded([&]() -> Result<std::unique_ptr<Session>> {
    auto state = std::make_unique<State>(std::move(device));
    NEFFLD_ASSIGN(state->facts, state->calls.driver_facts());
    if (state->facts.max_version < oldest_runtime_interface ||
        state->facts.min_version > newest_runtime_interface) {
      return fail(Status::failure, ErrorClass::unsupported, {.path = state->file->traits().name},
                  fmt::format("the driver accepts runtime versions {} to {}, this loader speaks {} "
                              "to {}",
                              state->facts.min_version, state->facts.max_version,
                              oldest_runtime_interface, newest_runtime_interface));
    }
    return std::make_unique<Session>(std::move(state));
  });
}

Arch Session::arch() const {
  return state_->facts.arch;
}
const DeviceTraits& Session::device() const {
  return state_->file->traits();
}

Result<LoadedModel*> Session::load(ParsedModel model, const LoadOptions& options) {
  return guarded([&] { return state_->load(std::move(model), options); });
}

Result<void> Session::bind(LoadedModel& model,
                           std::map<std::string, std::uint64_t, std::less<>> io) {
  return guarded([&] { return state_->bind(model, std::move(io)); });
}

Result<ExecutionReport> Session::execute(LoadedModel& model, const ExecuteOptions& options) {
  return guarded([&] { return state_->execute(model, options); });
}

Result<std::uint64_t> Session::verify(LoadedModel& model) {
  return guarded([&]() -> Result<std::uint64_t> {
    std::uint64_t compared = 0;
    Ledger ledger;
    const auto& by_request = state_->entries.at(&model).by_request;
    const SectionSink sink = compare_sink(state_->calls, by_request, model.plan, compared);
    NEFFLD_TRY(relocate(model.parsed.kbins, model.plan, model.addresses, ledger, sink));
    if (model.bound) {
      NEFFLD_TRY(relocate_bound(model.parsed.kbins, model.plan, model.addresses, ledger, sink));
    }
    return compared;
  });
}

Result<void> Session::unload(LoadedModel& model) {
  return guarded([&] { return state_->unload(model); });
}

std::span<const std::unique_ptr<LoadedModel>> Session::models() const {
  return state_->models;
}

Result<void> Session::read(std::uint64_t handle, std::uint64_t offset, MutableBytes out) {
  return state_->calls.copy_out(handle, offset, out);
}

const std::string& Session::memory_report() const {
  return state_->memory_report;
}

const std::map<std::uint32_t, std::uint64_t>& Session::calls() const {
  return state_->calls.counts();
}

}  // namespace neffld
