// SPDX-License-Identifier: MIT
// Pointer cells and tables of addresses (03 R2 and R3, decisions 18 and 34).
#include <fmt/format.h>

#include <vector>

#include "builders.hpp"
#include "resolve.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t cell_bytes = 8;
constexpr std::uint64_t cell_align = 64;

bool is_io(const Variable& variable) {
  return variable.kind == VarKind::input || variable.kind == VarKind::output;
}

/// Writes the address of `target` into cell `cell`; unbound inputs and outputs stay 0.
Result<void> fill_cell(const EmitContext& context, Patcher& patcher, std::uint64_t cell,
                       std::uint32_t target, RelocForm form, std::uint32_t owner_var) {
  const Variable& variable = context.kbin().variables[target];
  std::uint64_t address = 0;
  if (is_io(variable)) {
    const auto bound = context.addresses.io.find(variable.name);
    if (bound == context.addresses.io.end()) return {};
    address = bound->second;
  } else {
    const Placement& placement = context.planned().variables[target];
    if (!has_address(placement)) {
      return invalid({.path = variable.name},
                     fmt::format("Variable {} is not staged in HBM", variable.name));
    }
    address = placed_address(placement, context.addresses);
  }
  return patcher.patch(cell * cell_bytes, form, address, {Symbol::Kind::variable, target, 0},
                       {SourceRecord::Kind::variable, owner_var});
}

Result<void> emit_pointer_cells(const EmitContext& context) {
  const KbinPlan& planned = context.planned();
  std::vector<std::uint8_t> cells(planned.pointer_vars.size() * cell_bytes);
  Patcher patcher = context.patcher(cells, *planned.pointer_cells);
  for (std::size_t i = 0; i < planned.pointer_vars.size(); ++i) {
    const Variable& pointer = context.kbin().variables[planned.pointer_vars[i]];
    NEFFLD_TRY(fill_cell(context, patcher, i, pointer.referenced_var_id, RelocForm::pointer_cell,
                         pointer.var_id));
  }
  return context.sink({*planned.pointer_cells, cells, false});
}

Result<void> emit_table(const EmitContext& context, const Variable& table) {
  std::vector<std::uint8_t> cells(table.list.size() * cell_bytes);
  const std::uint32_t request = context.planned().variables[table.var_id].request;
  Patcher patcher = context.patcher(cells, request);
  for (std::size_t i = 0; i < table.list.size(); ++i) {
    NEFFLD_TRY(fill_cell(context, patcher, i, table.list[i], RelocForm::table_entry, table.var_id));
  }
  return context.sink({request, cells, false});
}

/// Cells and tables may name anything that has an address now or gets one at bind. Found out while
/// planning, so that a program that cannot be filled is refused before any device call.
Result<void> check_targets(const PlanContext& context) {
  const auto check = [&](const Variable& owner, std::uint32_t target) -> Result<void> {
    const Variable& variable = context.kbin().variables[target];
    if (is_io(variable) || has_address(context.out().variables[target])) return {};
    return invalid({.path = owner.name},
                   fmt::format("Variable {} is not staged in HBM", variable.name));
  };
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind == VarKind::pointer) {
      NEFFLD_TRY(check(variable, variable.referenced_var_id));
    } else if (variable.kind == VarKind::dge_table) {
      for (const std::uint32_t target : variable.list) NEFFLD_TRY(check(variable, target));
    }
  }
  return {};
}

}  // namespace

Result<void> plan_pointers(PlanContext& context) {
  KbinPlan& out = context.out();
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind == VarKind::pointer) out.pointer_vars.push_back(variable.var_id);
  }
  if (!out.pointer_vars.empty()) {
    out.pointer_cells =
        context.add(SectionKind::pointer_cells, 0, cell_bytes * out.pointer_vars.size(), cell_align,
                    MemCategory::misc, "pointer cells");
    for (std::size_t i = 0; i < out.pointer_vars.size(); ++i) {
      out.variables[out.pointer_vars[i]] = {Placement::Kind::section, *out.pointer_cells, 0,
                                            cell_bytes * i, 0};
    }
  }
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind != VarKind::dge_table || variable.list.empty()) continue;
    const std::uint32_t request =
        context.add(SectionKind::table, variable.var_id, cell_bytes * variable.list.size(),
                    cell_align, MemCategory::misc, fmt::format("table {}", variable.name));
    out.variables[variable.var_id] = {Placement::Kind::section, request, 0, 0, 0};
  }
  return check_targets(context);
}

Result<void> emit_pointers(const EmitContext& context) {
  if (context.planned().pointer_cells) NEFFLD_TRY(emit_pointer_cells(context));
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind != VarKind::dge_table || variable.list.empty()) continue;
    NEFFLD_TRY(emit_table(context, variable));
  }
  return {};
}

}  // namespace neffld
