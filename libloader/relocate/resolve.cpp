// SPDX-License-Identifier: MIT
#include "resolve.hpp"

#include <fmt/format.h>

namespace neffld {
namespace {

Result<PointerBase> io_base(const Variable& variable, const Addresses& addresses) {
  if (const auto bound = addresses.io.find(variable.name); bound != addresses.io.end()) {
    return PointerBase{bound->second, PointerBase::Kind::bound_io};
  }
  if (variable.var_id > template_max_var || variable.size > template_max_offset + 1) {
    return unsupported(
        {.path = variable.name},
        fmt::format("var_id {} and size {} do not fit a template pointer (at most {} and {})",
                    variable.var_id, variable.size, template_max_var, template_max_offset + 1));
  }
  return PointerBase{template_bit | std::uint64_t{variable.var_id} << template_var_shift,
                     PointerBase::Kind::io};
}

}  // namespace

bool has_address(const Placement& placement) {
  return placement.kind == Placement::Kind::section || placement.kind == Placement::Kind::page ||
         placement.kind == Placement::Kind::fixed;
}

std::uint64_t placed_address(const Placement& placement, const Addresses& addresses) {
  switch (placement.kind) {
    case Placement::Kind::section:
      return addresses.sections[placement.request] + placement.offset;
    case Placement::Kind::page:
      return addresses.scratchpad_pages.at(placement.core)[placement.request] + placement.offset;
    case Placement::Kind::fixed:
      return placement.address;
    case Placement::Kind::unplaced:
    case Placement::Kind::host_only:
      break;
  }
  return 0;
}

std::optional<std::uint64_t> variable_address(const Kbin& kbin, const KbinPlan& plan,
                                              const Addresses& addresses, std::uint32_t var_id) {
  const Placement& placement = plan.variables[var_id];
  if (has_address(placement)) return placed_address(placement, addresses);
  const auto bound = addresses.io.find(kbin.variables[var_id].name);
  if (bound != addresses.io.end()) return bound->second;
  return std::nullopt;
}

Result<std::vector<PointerBase>> pointer_bases(const Kbin& kbin, const KbinPlan& plan,
                                               const Addresses& addresses) {
  std::vector<PointerBase> bases(kbin.variables.size());
  for (const Variable& variable : kbin.variables) {
    const Placement& placement = plan.variables[variable.var_id];
    if (variable.kind == VarKind::input || variable.kind == VarKind::output) {
      NEFFLD_ASSIGN(bases[variable.var_id], io_base(variable, addresses));
    } else if (has_address(placement)) {
      bases[variable.var_id] = {placed_address(placement, addresses), PointerBase::Kind::placed};
    }
  }
  return bases;
}

}  // namespace neffld
