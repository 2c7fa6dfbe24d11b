// SPDX-License-Identifier: MIT
// Sums over a model that both report forms print.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "neffld/session.hpp"

namespace neffld::cli {

struct SubgraphFacts {
  std::map<std::string, std::uint64_t> variables;   ///< by kind
  std::map<std::string, std::uint64_t> queue_sets;  ///< by type
  std::optional<DmaTotals> dma;  ///< from the plan stage on
  std::array<std::uint64_t, engine_count> slots = {};
  std::uint64_t constants_bytes = 0;
  std::uint64_t scratchpad_bytes = 0;  ///< arena the `virtual` variables need
};

/// `plan` is null before the plan stage.
SubgraphFacts subgraph_facts(const Kbin& kbin, const KbinPlan* plan);
SubgraphFacts& operator+=(SubgraphFacts& sum, const SubgraphFacts& part);

/// A file may name no target, which means v2.
std::string target_text(const std::string& target);

/// Bytes a variable occupies on the device: the whole aperture for a state buffer, 8 an entry for a
/// table (spec 03 sections 3.1 and R3), else its size.
std::uint64_t variable_size(const Kbin& kbin, const Variable& variable);

}  // namespace neffld::cli
