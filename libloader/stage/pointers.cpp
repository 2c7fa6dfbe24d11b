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

/// The cells of one section while they are filled.
class Cells {
 public:
  Cells(const EmitContext& context, std::size_t count, std::uint32_t request)
      : context_(context),
        request_(request),
        bytes_(count * cell_bytes),
        io_(bytes_, context.kbin_index, request, context.ledger),
        placed_(bytes_, context.kbin_index, request, context.placed_ledger) {}

  /// Writes the address of variable `target` into a cell; unbound inputs and outputs stay 0.
  Result<void> fill(std::uint64_t cell, std::uint32_t target, RelocForm form,
                    std::uint32_t owner_var) {
    const Variable& variable = context_.kbin().variables[target];
    const auto patch = [&](Patcher& patcher, std::uint64_t address) {
      return patcher.patch(cell * cell_bytes, form, address, {Symbol::Kind::variable, target, 0},
                           {SourceRecord::Kind::variable, owner_var});
    };
    if (is_io(variable)) {
      const auto bound = context_.addresses.io.find(variable.name);
      return bound == context_.addresses.io.end() ? Result<void>() : patch(io_, bound->second);
    }
    const Placement& placement = context_.planned().variables[target];
    if (!has_address(placement)) {
      return invalid({.path = variable.name},
                     fmt::format("Variable {} is not staged in HBM", variable.name));
    }
    return patch(placed_, placed_address(placement, context_.addresses));
  }

  Result<void> emit() const { return context_.sink({request_, bytes_, false}); }

 private:
  const EmitContext& context_;
  std::uint32_t request_;
  std::vector<std::uint8_t> bytes_;
  Patcher io_, placed_;
};

Result<void> emit_pointer_cells(const EmitContext& context) {
  const KbinPlan& planned = context.planned();
  Cells cells(context, planned.pointer_vars.size(), *planned.pointer_cells);
  for (std::size_t i = 0; i < planned.pointer_vars.size(); ++i) {
    const Variable& pointer = context.kbin().variables[planned.pointer_vars[i]];
    NEFFLD_TRY(cells.fill(i, pointer.referenced_var_id, RelocForm::pointer_cell, pointer.var_id));
  }
  return cells.emit();
}

Result<void> emit_table(const EmitContext& context, const Variable& table) {
  Cells cells(context, table.list.size(), context.planned().variables[table.var_id].request);
  for (std::size_t i = 0; i < table.list.size(); ++i) {
    NEFFLD_TRY(cells.fill(i, table.list[i], RelocForm::table_entry, table.var_id));
  }
  return cells.emit();
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
                    MemUsage::runtime, "pointer cells");
    for (std::size_t i = 0; i < out.pointer_vars.size(); ++i) {
      out.variables[out.pointer_vars[i]] = {Placement::Kind::section, *out.pointer_cells, 0,
                                            cell_bytes * i, 0};
    }
  }
  for (const Variable& variable : context.kbin().variables) {
    if (variable.kind != VarKind::dge_table || variable.list.empty()) continue;
    const std::uint32_t request =
        context.add(SectionKind::table, variable.var_id, cell_bytes * variable.list.size(),
                    cell_align, MemUsage::runtime, fmt::format("table {}", variable.name));
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
