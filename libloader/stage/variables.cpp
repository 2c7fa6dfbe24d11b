// SPDX-License-Identifier: MIT
// Variables: every mem_ref gets its place (spec 03 section 3).
#include <fmt/format.h>

#include "builders.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t max_alignment = 0x7FFF'FFFF;  // 03 R9

Result<void> place_in_hbm(PlanContext& context, const Variable& variable, MemUsage usage) {
  if (variable.size == 0) {
    return invalid({.path = variable.name}, "size is 0, expected at least 1 byte");
  }
  if (variable.alignment > max_alignment) {
    return invalid({.path = variable.name}, fmt::format("alignment is {}, expected at most {}",
                                                        variable.alignment, max_alignment));
  }
  Placement& placement = context.out().variables[variable.var_id];
  placement.kind = Placement::Kind::section;
  placement.request =
      context.add(SectionKind::variable, variable.var_id, variable.size, variable.alignment, usage,
                  fmt::format("variable {}", variable.name));
  placement.offset = 0;
  return {};
}

Result<void> place(PlanContext& context, const Variable& variable) {
  Placement& placement = context.out().variables[variable.var_id];
  switch (variable.kind) {
    case VarKind::state_buffer:
      placement.kind = Placement::Kind::fixed;
      placement.address = context.arch.tpb_base[context.out().core];
      return {};
    case VarKind::file:
      return place_in_hbm(context, variable, MemUsage::constants);
    case VarKind::tmp_buf:
      return place_in_hbm(context, variable, MemUsage::scratchpad);
    case VarKind::virtual_buf:
      if (variable.fabric_alt) {
        return unsupported({.path = variable.name},
                           "fabric_path \"alt\" has no known placement, expected \"main\"");
      }
      if (placement.kind == Placement::Kind::page) return {};
      return place_in_hbm(context, variable, MemUsage::scratchpad);
    case VarKind::list:
      placement.kind = Placement::Kind::host_only;
      return {};
    case VarKind::input:
    case VarKind::output:     // bound at execution
    case VarKind::pointer:    // placed by plan_pointers
    case VarKind::dge_table:  // placed by plan_pointers
    case VarKind::remote:     // placed by plan_remotes
      return {};
  }
  return {};
}

}  // namespace

Result<void> plan_variables(PlanContext& context) {
  for (const Variable& variable : context.kbin().variables) {
    NEFFLD_TRY(place(context, variable));
  }
  return {};
}

/// A remote variable is an alias of a placed variable of a sibling (spec 03 section 3.3).
Result<void> plan_remotes(PlanContext& context) {
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind != VarKind::remote) continue;
    const Placement* target = nullptr;
    if (variable.remote_subgraph < context.kbins.size()) {
      // A remote of a remote is refused, also when this pass has placed that one already (03 R13).
      const auto& siblings = context.kbins[variable.remote_subgraph].variables;
      if (variable.remote_var_id < siblings.size() &&
          siblings[variable.remote_var_id].kind != VarKind::remote) {
        target = &context.plan.kbins[variable.remote_subgraph].variables[variable.remote_var_id];
      }
    }
    if (target == nullptr ||
        (target->kind != Placement::Kind::section && target->kind != Placement::Kind::page &&
         target->kind != Placement::Kind::fixed)) {
      return invalid({.path = variable.name},
                     fmt::format("Failed to find remote variable {} in relative sg {}: expected a "
                                 "variable with an address of its own",
                                 variable.remote_var_id, variable.remote_subgraph));
    }
    context.out().variables[variable.var_id] = *target;
  }
  return {};
}

Result<void> emit_variables(const EmitContext& context) {
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind != VarKind::file) continue;
    const Placement& placement = context.planned().variables[variable.var_id];
    NEFFLD_TRY(context.sink({placement.request, variable.payload, false}));
  }
  return {};
}

}  // namespace neffld
