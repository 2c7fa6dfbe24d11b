// SPDX-License-Identifier: MIT
// Resource builders: one kind of device resource each, in the order of spec 04 section 2.2 as
// decision 34 completes it.
//
// A builder has two halves. `plan` adds the allocations it needs; it runs before any device call.
// `emit` produces the contents once every allocation has an address. Nothing else allocates.
#pragma once

#include <functional>

#include "neffld/plan.hpp"
#include "neffld/relocate.hpp"
#include "patcher.hpp"

namespace neffld {

/// What a builder sees while planning one kbin.
struct PlanContext {
  std::span<const Kbin> kbins;
  const PlanOptions& options;
  const ArchTable& arch;
  Plan& plan;
  std::uint32_t kbin_index;

  const Kbin& kbin() const { return kbins[kbin_index]; }
  KbinPlan& out() const { return plan.kbins[kbin_index]; }

  /// Appends a request on this kbin's core and HBM; returns its index.
  std::uint32_t add(SectionKind kind, std::uint32_t index, std::uint64_t size, std::uint64_t align,
                    MemUsage usage, std::string owner) const;
};

/// What a builder sees while producing contents.
struct EmitContext {
  std::span<const Kbin> kbins;
  const Plan& plan;
  const ArchTable& arch;
  const Addresses& addresses;
  Ledger& ledger;
  Ledger& placed_ledger;  ///< for cells that name placed variables, when only bound ones are new
  const SectionSink& sink;
  std::uint32_t kbin_index;

  const Kbin& kbin() const { return kbins[kbin_index]; }
  const KbinPlan& planned() const { return plan.kbins[kbin_index]; }
  std::uint64_t address_of(std::uint32_t request) const { return addresses.sections[request]; }
  /// Address of the 4-byte word that holds 1 in the core's constant block.
  std::uint64_t signal_source() const { return address_of(planned().constant_block) + 4; }
  Patcher patcher(MutableBytes bytes, std::uint32_t request) const {
    return Patcher(bytes, kbin_index, request, ledger);
  }
};

// Planned for all kbins before anything per core, in this order.
Result<void> plan_exec_queues(Plan& plan, const PlanOptions& options);
Result<void> plan_scratchpad(std::span<const Kbin> kbins, Plan& plan, const PlanOptions& options);
Result<void> plan_variables(PlanContext& context);
Result<void> plan_remotes(PlanContext& context);

// Per core.
Result<void> plan_constant_block(PlanContext& context);
Result<void> plan_pointers(PlanContext& context);
Result<void> plan_imcpy_rings(PlanContext& context);
Result<void> plan_act_tables(PlanContext& context);
Result<void> plan_dve_tables(PlanContext& context);
Result<void> plan_instructions(PlanContext& context);
Result<void> plan_microcode(PlanContext& context);
Result<void> plan_exec_queue(PlanContext& context);
Result<void> plan_static_rings(PlanContext& context);
Result<void> plan_feature_maps(PlanContext& context);

Result<void> emit_variables(const EmitContext& context);
Result<void> emit_constant_block(const EmitContext& context);
Result<void> emit_pointers(const EmitContext& context);
Result<void> emit_imcpy_rings(const EmitContext& context);
Result<void> emit_act_tables(const EmitContext& context);
Result<void> emit_dve_tables(const EmitContext& context);
Result<void> emit_microcode(const EmitContext& context);
Result<void> emit_instructions(const EmitContext& context);
Result<void> emit_static_rings(const EmitContext& context);
Result<void> emit_bound_rings(const EmitContext& context);

// Facts the builders share.

/// What has to be equal for two models to share a library.
LibraryId library_id(const UcodeLibrary& library);

/// Ranks the queue sets, decides which are templates, collects the blocks their owners trigger and
/// counts every ring (decisions 3, 5, 21). Needs the streams; runs before the builders.
Result<void> plan_queue_sets(PlanContext& context);
/// Checks every record of every stream and counts its lowered slots.
Result<void> plan_streams(PlanContext& context);

/// Descriptors a linear ring allocates for `used` ones (spec 04 section 6).
std::uint32_t linear_ring_size(std::uint32_t used);

}  // namespace neffld
