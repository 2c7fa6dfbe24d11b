// SPDX-License-Identifier: MIT
// plan_model() reads as the list of planning passes.
#include "neffld/plan.hpp"

#include <fmt/format.h>

#include <functional>

#include "builders.hpp"
#include "neffld/stream_scans.hpp"

namespace neffld {
namespace {

/// The physical cores a model needs must exist and amount to one logical core (decision 40).
Result<void> place_on_cores(std::span<const Kbin> kbins, Plan& plan, const PlanOptions& options) {
  const ArchTable& arch = arch_table(plan.arch);
  const std::uint32_t core_size =
      options.logical_core_size ? options.logical_core_size : arch.default_logical_core_size;
  const std::uint64_t first = std::uint64_t{options.logical_core} * core_size;
  if (first >= arch.cores_per_device || arch.cores_per_device - first < core_size) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "logical core"},
                fmt::format("core {} does not exist: {} has {} logical cores of size {}",
                            options.logical_core, arch_name(plan.arch),
                            arch.cores_per_device / core_size, core_size));
  }
  if (kbins.size() > core_size) {
    return fail(Status::invalid, ErrorClass::resource, {.path = "$.graphs"},
                fmt::format("Insufficient number of pncs, required {}, available {}", kbins.size(),
                            core_size));
  }
  if (kbins.size() != 1 && kbins.size() != core_size) {
    return invalid({.path = "$.graphs"},
                   fmt::format("found {} subgraphs, expected 1 or the logical core size {}",
                               kbins.size(), core_size));
  }
  plan.kbins.resize(kbins.size());
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    KbinPlan& out = plan.kbins[i];
    out.core = static_cast<std::uint32_t>(first) + i;
    out.hbm = default_hbm(arch, out.core);
    out.variables.resize(kbins[i].variables.size());
  }
  return {};
}

using Pass = std::function<Result<void>(PlanContext&)>;

Result<void> for_each_kbin(std::span<const Kbin> kbins, Plan& plan, const PlanOptions& options,
                           std::initializer_list<Pass> passes) {
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    PlanContext context{kbins, options, arch_table(plan.arch), plan, i};
    for (const Pass& pass : passes) {
      if (auto result = pass(context); !result) {
        Error error = std::move(result.error());
        if (error.where.member.empty()) error.where.member = kbins[i].name;
        return tl::unexpected<Error>(std::move(error));
      }
    }
  }
  return {};
}

/// Scans the streams of a kbin, or takes what an earlier plan of the same parse has kept.
Result<void> scan_or_take(PlanContext& context, StreamScans* scans) {
  KbinPlan& out = context.out();
  if (const auto kept = scans != nullptr ? scans->find(context.kbin_index) : nullptr) {
    out.streams = kept->streams;
    out.collectives = kept->collectives;
    out.totals = kept->totals;
    out.warnings = kept->warnings;
    return {};
  }
  NEFFLD_TRY(plan_streams(context));
  if (scans != nullptr) {
    scans->keep(context.kbin_index, {out.streams, out.collectives, out.totals, out.warnings});
  }
  return {};
}

Result<Plan> plan_unguarded(std::span<const Kbin> kbins, const PlanOptions& options,
                            StreamScans* scans) {
  if (kbins.empty()) return invalid({.path = "$.graphs"}, "found no subgraph, expected at least 1");
  Plan plan;
  plan.arch = kbins.front().arch;
  plan.packet_bytes = options.packet_bytes;

  // Which physical core runs which subgraph.
  NEFFLD_TRY(place_on_cores(kbins, plan, options));
  // Which records become how many slots, and which blocks the triggers lay down where: sizes only.
  const auto plan_scans = [&](PlanContext& context) { return scan_or_take(context, scans); };
  NEFFLD_TRY(for_each_kbin(kbins, plan, options, {plan_scans, plan_queue_sets}));
  // What belongs to the cores comes first, once per core.
  NEFFLD_TRY(plan_exec_queues(plan, options));
  NEFFLD_TRY(plan_scratchpad(kbins, plan, options));
  // Variables of all subgraphs, then the aliases between them.
  NEFFLD_TRY(for_each_kbin(kbins, plan, options, {plan_variables}));
  NEFFLD_TRY(for_each_kbin(kbins, plan, options, {plan_remotes}));
  // The per-core build, in the order of spec 04 section 2.2.
  NEFFLD_TRY(for_each_kbin(
      kbins, plan, options,
      {plan_constant_block, plan_pointers, plan_imcpy_rings, plan_act_tables, plan_dve_tables,
       plan_microcode, plan_exec_queue, plan_instructions, plan_static_rings, plan_feature_maps}));
  return plan;
}

}  // namespace

std::uint32_t PlanContext::add(SectionKind kind, std::uint32_t index, std::uint64_t size,
                               std::uint64_t align, MemUsage usage, std::string owner) const {
  const auto number = static_cast<std::uint32_t>(plan.requests.size());
  plan.requests.push_back({size, align, out().hbm, out().core, usage, mem_category(usage), kind,
                           kbin_index, index, std::move(owner), false});
  return number;
}

Result<Plan> plan_model(std::span<const Kbin> kbins, const PlanOptions& options) {
  return guarded([&] { return plan_unguarded(kbins, options, nullptr); });
}

Result<Plan> plan_model(std::span<const Kbin> kbins, const PlanOptions& options,
                        StreamScans& scans) {
  return guarded([&] { return plan_unguarded(kbins, options, &scans); });
}

}  // namespace neffld
