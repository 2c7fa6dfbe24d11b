// SPDX-License-Identifier: MIT
// Executes a bound model: switches its cores over to it, hands the requests over, rings the
// doorbells and harvests what the engines report (spec 04 sections 9 to 12, decision 33).
#include <fmt/format.h>

#include <algorithm>

#include "compute_check.hpp"
#include "execution_errors.hpp"
#include "harvest.hpp"
#include "neuron_abi/address_map.h"
#include "session_state.hpp"
#include "stager.hpp"
#include "table_hash.hpp"

namespace neffld {
namespace {

/// Device address of the table that operands with a table marker name, 0 = none (decision 35).
std::uint64_t dge_table_of(const LoadedModel& model, std::uint32_t kbin) {
  const Kbin& table = model.parsed.kbins[kbin];
  for (const Variable& variable : table.variables) {
    if (variable.kind != VarKind::dge_table) continue;
    return variable_address(table, model.plan.kbins[kbin], model.addresses, variable.var_id)
        .value_or(0);
  }
  return 0;
}

neuron_exec_request make_request(const LoadedModel& model, std::uint32_t kbin, bool switched,
                                 bool load_tables) {
  neuron_exec_request request{};
  request.do_model_switch = switched;
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    const std::uint64_t image =
        model.addresses.sections[model.plan.kbins[kbin].streams[engine].request];
    request.eng_addr_lo[engine] = static_cast<std::uint32_t>(image);
    request.eng_addr_hi[engine] = static_cast<std::uint32_t>(image >> 32);
  }
  request.reload_seq_config = 1;
  request.load_act_dve_tables = load_tables;
  request.dge_table_pa = dge_table_of(model, kbin);
  return request;
}

bool has_io(const LoadedModel& model) {
  return !model.parsed.manifest.inputs.empty() || !model.parsed.manifest.outputs.empty();
}

/// The queues that load engine tables, of the kbins that have none: whatever ring is still in them
/// belongs to a model that ran before.
std::vector<neuron_dma_queue_init> unused_table_queues(const Plan& plan) {
  std::vector<neuron_dma_queue_init> queues;
  for (const KbinPlan& kbin : plan.kbins) {
    const auto add = [&](bool used, std::uint32_t engine) {
      if (used) return;
      neuron_dma_queue_init queue{};
      queue.eng_id = NEURON_DMA_ENGINES_PER_CORE * kbin.core + engine;
      queue.qid = NEURON_RUNTIME_QUEUE;
      queues.push_back(queue);
    };
    add(kbin.act.has_value(), NEURON_ACT_RING_ENGINE);
    add(kbin.dve.has_value(), NEURON_DVE_RING_ENGINE);
  }
  return queues;
}

/// One execution between its requests and its end.
class Execution {
 public:
  Execution(const ExecutionScene& scene, std::span<CoreUnit* const> units) : scene_(scene) {
    for (CoreUnit* unit : units) cores_.emplace_back(*unit);
  }

  /// All doorbells: every core is armed before any starts (spec 04 section 9). An engine that waits
  /// when one of them ends may go on at the next, so who waits is only told by the last.
  Result<void> start() {
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      NEFFLD_TRY(cores_[i].unit().ring_doorbell(scene_.calls));
      if (i + 1 == cores_.size()) break;
      NEFFLD_TRY(take_errors());
      std::erase_if(errors_, is_stall);
    }
    return {};
  }

  /// A simulated device has run by now, so what is not there will never come.
  Result<void> harvest(ExecutionReport& report) {
    if (auto taken = take_everything(report.records); !taken)
      return blame_overflow(std::move(taken));
    NEFFLD_TRY(take_errors());
    report.records += errors_.size();
    const bool complete = std::all_of(cores_.begin(), cores_.end(),
                                      [](const CoreHarvest& core) { return core.complete(); });
    if (complete) std::erase_if(errors_, is_stall);
    if (!errors_.empty()) return tl::unexpected<Error>(explain_errors(scene_, errors_));
    if (!complete) return blame_overflow(missing());
    for (const CoreHarvest& core : cores_) report.cores.push_back(core.report());
    return {};
  }

 private:
  Result<void> take_everything(std::uint64_t& records) {
    for (bool progress = true; progress;) {
      progress = false;
      for (CoreHarvest& core : cores_) {
        NEFFLD_ASSIGN(const std::size_t taken, core.step(scene_.calls));
        records += taken;
        progress |= taken != 0;
      }
    }
    return {};
  }

  Result<void> take_errors() {
    for (std::uint32_t kbin = 0; kbin < cores_.size(); ++kbin) {
      NEFFLD_ASSIGN(const auto records, cores_[kbin].take_errors(scene_.calls));
      for (const neuron_notification& record : records) errors_.push_back({kbin, record});
    }
    return {};
  }

  Result<void> missing() const {
    std::string text;
    for (const CoreHarvest& core : cores_) {
      if (core.complete()) continue;
      text += fmt::format("{}core {}: {}", text.empty() ? "" : "; ", core.report().core,
                          core.missing());
    }
    return fail(Status::timeout, ErrorClass::device, {},
                fmt::format("missing infer_status notification: {}", text));
  }

  /// Records that are missing or out of order may be ones the device had no room for.
  Result<void> blame_overflow(Result<void> error) {
    for (const CoreHarvest& core : cores_) {
      const auto overflowed = core.unit().overflowed(scene_.calls);
      if (!overflowed || !*overflowed) continue;
      return fail(Status::exec_sw_nq_overflow, ErrorClass::device, {},
                  fmt::format("a notification queue of core {} overflowed: {}", core.report().core,
                              error.error().text));
    }
    return error;
  }

  const ExecutionScene& scene_;
  std::vector<CoreHarvest> cores_;
  std::vector<ReportedError> errors_;
};

}  // namespace

/// What can be known to be wrong before the device hears of it.
Result<void> Session::State::check_executable(const LoadedModel& model, Entry& entry,
                                              const ExecuteOptions& options) {
  if (!file->traits().simulated) {
    return unsupported({},
                       "executing on real hardware is refused: the encodings it needs are not "
                       "known");
  }
  if (model.plan.arch != facts.arch) {
    return unsupported({}, fmt::format("a model for {} cannot be executed on a {} device",
                                       arch_name(model.plan.arch), arch_name(facts.arch)));
  }
  if (!model.relocated || (!model.bound && has_io(model))) {
    return fail(Status::invalid, ErrorClass::usage, {},
                "the model is not bound: its inputs and outputs have no addresses");
  }
  if (options.check_compute && !entry.compute_checked) {
    NEFFLD_TRY(check_compute_records(model));
    entry.compute_checked = true;
  }
  return {};
}

/// The units of a model's cores, made where they are missing.
Result<std::vector<CoreUnit*>> Session::State::units_of(const LoadedModel& model) {
  std::vector<CoreUnit*> found;
  for (const KbinPlan& kbin : model.plan.kbins) {
    auto& unit = units[kbin.core];
    if (unit == nullptr) {
      NEFFLD_ASSIGN(unit, CoreUnit::make(calls, *file, arch_table(facts.arch), kbin.core,
                                         cores.exec_memory(kbin.core)));
    }
    found.push_back(unit.get());
  }
  return found;
}

/// Makes the hardware queues of the model's cores its own (decision 33).
Result<void> Session::State::take_queues(LoadedModel& model, const Entry& entry, bool switched) {
  if (switched) calls.drop_rings(unused_table_queues(model.plan));
  const bool owned = std::all_of(
      model.plan.kbins.begin(), model.plan.kbins.end(),
      [&](const KbinPlan& kbin) { return cores.queue_owner(kbin.core) == model.h_model; });
  if (owned && model.queues_initialised) return {};
  std::vector<neuron_dma_queue_init> inits = queue_inits(model.plan, entry.by_request, false);
  const auto bound = queue_inits(model.plan, entry.by_request, true);
  inits.insert(inits.end(), bound.begin(), bound.end());
  // From here on nobody's queues are what they were, whether or not this succeeds.
  for (const auto& held : models) {
    const bool shares = std::any_of(
        model.plan.kbins.begin(), model.plan.kbins.end(),
        [&](const KbinPlan& kbin) { return cores.queue_owner(kbin.core) == held->h_model; });
    if (shares) held->queues_initialised = false;
  }
  for (const KbinPlan& kbin : model.plan.kbins) cores.set_queue_owner(kbin.core, 0);
  if (!inits.empty()) NEFFLD_TRY(calls.init_queues(inits));
  own_cores(model);
  return {};
}

Result<ExecutionReport> Session::State::run(LoadedModel& model, Entry& entry,
                                            std::span<CoreUnit* const> on) {
  ExecutionReport report;
  const auto count = static_cast<std::uint32_t>(on.size());
  for (std::uint32_t kbin = 0; entry.tables.size() < count; ++kbin) {
    NEFFLD_ASSIGN(auto hash, hash_tables(calls, model.plan, kbin, entry.by_request));
    entry.tables.push_back(hash);
  }
  report.switched = std::any_of(on.begin(), on.end(), [&](const CoreUnit* unit) {
    return unit->last_model != model.h_model;
  });
  NEFFLD_TRY(take_queues(model, entry, report.switched));

  for (std::uint32_t kbin = 0; kbin < count; ++kbin) {
    CoreUnit& unit = *on[kbin];
    const TableHash& wanted = entry.tables[kbin];
    const bool load_tables = wanted != TableHash{} && wanted != unit.tables;
    report.tables_loaded |= load_tables;
    const std::uint64_t constants = model.addresses.sections[model.plan.kbins[kbin].constant_block];
    constexpr std::uint64_t one = 4;  // the block's second word
    NEFFLD_TRY(unit.arm(calls,
                        make_request(model, kbin, unit.last_model != model.h_model, load_tables),
                        constants + one));
    unit.last_model = model.h_model;
    if (load_tables) unit.tables = wanted;
  }

  const ExecutionScene scene{calls, model, entry.by_request};
  Execution execution(scene, on);
  NEFFLD_TRY(execution.start());
  NEFFLD_TRY(execution.harvest(report));
  return report;
}

Result<ExecutionReport> Session::State::execute(LoadedModel& model, const ExecuteOptions& options) {
  Entry& entry = entries.at(&model);
  NEFFLD_TRY(check_executable(model, entry, options));
  file->limit_execution(options.timeout);
  auto report = guarded([&]() -> Result<ExecutionReport> {
    NEFFLD_ASSIGN(const std::vector<CoreUnit*> on, units_of(model));
    return run(model, entry, on);
  });
  // Whatever a failed execution left in rings and engines: the next one starts from nothing.
  if (!report) {
    for (const KbinPlan& kbin : model.plan.kbins) units.erase(kbin.core);
  }
  return report;
}

}  // namespace neffld
