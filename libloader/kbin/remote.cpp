// SPDX-License-Identifier: MIT
#include "kbin/remote.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "manifest/printable.hpp"

namespace neffld {
namespace {

struct RemoteName {
  std::string_view base;
  std::size_t subgraph;
};

/// `^(.+)_remote_sg([0-9]+)$`; the greedy first group means the last marker counts.
std::optional<RemoteName> split(std::string_view name) {
  constexpr std::string_view marker = "_remote_sg";
  const std::size_t at = name.rfind(marker);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view digits = name.substr(at + marker.size());
  std::size_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() || stop != end || error != std::errc()) return std::nullopt;
  return RemoteName{name.substr(0, at), number};
}

Result<void> resolve_one(const Where& where, std::vector<Kbin>& kbins, std::size_t self,
                         Variable& variable) {
  if (kbins.size() == 1) {
    return invalid(where, "a remote variable in a model of one subgraph");
  }
  const auto name = split(variable.name);
  if (!name) {
    return invalid(where, "the name of a remote variable is <variable>_remote_sg<number>");
  }
  if (name->subgraph >= kbins.size() || name->subgraph == self) {
    return invalid(where, fmt::format("subgraph {} is not a sibling, the model has {} and this is "
                                      "number {}",
                                      name->subgraph, kbins.size(), self));
  }
  const Variable* target = kbins[name->subgraph].find_variable(name->base);
  if (target == nullptr) {
    return invalid(where, fmt::format("Failed to resolve remote variables for subgraphs {} to {}: "
                                      "no variable is called {} there",
                                      self, name->subgraph, printable(name->base)));
  }
  if (target->kind == VarKind::remote) {
    return invalid(where, fmt::format("variable {} of subgraph {} is remote itself",
                                      printable(name->base), name->subgraph));
  }
  variable.remote_subgraph = static_cast<std::uint32_t>(name->subgraph);
  variable.remote_var_id = target->var_id;
  variable.size = target->size;
  variable.alignment = target->alignment;
  return {};
}

}  // namespace

Result<void> resolve_remotes(const Subgraph& subgraph, std::vector<Kbin>& kbins, std::size_t self) {
  for (Variable& variable : kbins[self].variables) {
    if (variable.kind != VarKind::remote) continue;
    NEFFLD_TRY(resolve_one(subgraph.at("$.var" + path_step(variable.name)), kbins, self, variable));
  }
  return {};
}

}  // namespace neffld
