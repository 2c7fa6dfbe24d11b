// SPDX-License-Identifier: MIT
// What can be checked only when all variables are known.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kbin/variables.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

Where place(const Subgraph& subgraph, const Variable& variable, std::string_view field) {
  return subgraph.at("$.var" + path_step(variable.name) + std::string(field));
}

bool is_table(VarKind kind) {
  return kind == VarKind::list || kind == VarKind::dge_table;
}
bool is_io(VarKind kind) {
  return kind == VarKind::input || kind == VarKind::output;
}

Result<void> order_by_id(const Subgraph& subgraph, std::vector<Variable>& variables) {
  const auto by_id = [](const Variable& a, const Variable& b) { return a.var_id < b.var_id; };
  std::stable_sort(variables.begin(), variables.end(), by_id);
  const auto same_id = [](const Variable& a, const Variable& b) { return a.var_id == b.var_id; };
  const auto twin = std::adjacent_find(variables.begin(), variables.end(), same_id);
  if (twin != variables.end()) {
    return invalid(place(subgraph, twin[1], ".var_id"),
                   fmt::format("duplicate variable {} (id {}), the id is also that of {}",
                               printable(twin[1].name), twin[1].var_id, printable(twin[0].name)));
  }
  if (!variables.empty() && std::uint64_t{variables.back().var_id} + 1 != variables.size()) {
    return invalid(subgraph.at("$.var"), fmt::format("Unexpected var_ids set! max={}, size={}",
                                                     variables.back().var_id, variables.size()));
  }
  return {};
}

Result<void> resolve_pointer(const Subgraph& subgraph, const std::vector<Variable>& variables,
                             Variable& pointer) {
  const std::uint32_t id = pointer.referenced_var_id;
  const Where where = place(subgraph, pointer, ".referenced_var_id");
  if (id >= variables.size()) {
    return invalid(where, fmt::format("no variable has the id {}, the largest is {}", id,
                                      variables.size() - 1));
  }
  const VarKind kind = variables[id].kind;
  if (kind == VarKind::pointer) {
    return invalid(where, fmt::format("variable {} is a pointer itself", id));
  }
  pointer.io_ref = is_io(kind);
  return {};
}

Result<void> check_list(const Subgraph& subgraph, const std::vector<Variable>& variables,
                        const Variable& table) {
  for (std::size_t i = 0; i < table.list.size(); ++i) {
    const std::uint32_t id = table.list[i];
    const auto where = [&] { return place(subgraph, table, fmt::format(".list[{}]", i)); };
    if (id >= variables.size()) {
      return invalid(where(), fmt::format("no variable has the id {}, the largest is {}", id,
                                          variables.size() - 1));
    }
    if (is_table(variables[id].kind)) {
      return invalid(where(), fmt::format("variable {} is a table itself", id));
    }
  }
  return {};
}

Result<void> resolve_references(const Subgraph& subgraph, std::vector<Variable>& variables) {
  bool has_table = false;
  for (Variable& variable : variables) {
    if (variable.kind == VarKind::pointer) {
      NEFFLD_TRY(resolve_pointer(subgraph, variables, variable));
    }
    if (is_table(variable.kind)) NEFFLD_TRY(check_list(subgraph, variables, variable));
    if (variable.kind == VarKind::dge_table && std::exchange(has_table, true)) {
      return invalid(place(subgraph, variable, ""),
                     "a subgraph has at most one dge-table");
    }
  }
  return {};
}

void size_scratchpads(Kbin& kbin) {
  for (const Variable& variable : kbin.variables) {
    if (variable.kind != VarKind::virtual_buf) continue;
    std::uint64_t& size = uses_shared_arena(variable.backing_buf) ? kbin.shared_scratchpad_size
                                                                  : kbin.local_scratchpad_size;
    size = std::max(size, variable.backing_offset + variable.size);
  }
}

}  // namespace

Result<void> complete_variables(Subgraph& subgraph) {
  std::vector<Variable>& variables = subgraph.kbin.variables;
  NEFFLD_TRY(order_by_id(subgraph, variables));
  const auto is_output = [](const Variable& v) { return v.kind == VarKind::output; };
  if (std::none_of(variables.begin(), variables.end(), is_output)) {
    return invalid(subgraph.at("$.var"),
                   fmt::format("Subgraph {} has no Outputs", printable(subgraph.kbin.name)));
  }
  NEFFLD_TRY(resolve_references(subgraph, variables));
  size_scratchpads(subgraph.kbin);
  auto& by_name = subgraph.kbin.variables_by_name;
  by_name.resize(variables.size());
  std::iota(by_name.begin(), by_name.end(), 0u);
  std::sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    return variables[a].name < variables[b].name;
  });
  return {};
}

}  // namespace neffld
