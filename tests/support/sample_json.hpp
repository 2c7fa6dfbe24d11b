// SPDX-License-Identifier: MIT
// JSON members of synthetic NEFFs, in the exact layout of real ones (spec 08 section 2).
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "sample_neff.hpp"

namespace neffld::sample {

/// What def.json of one subgraph is made of.
struct Definition {
  Arch arch;
  const std::vector<Variable>& variables;
  const std::deque<Queue>& queues;
  bool fp8;
  bool has_libraries;
};

std::string definition_json(const Definition& definition);
/// One line, sorted keys. `queues` holds the blocks of each queue the engine owns; `act_sets` is
/// read for ACT only.
std::string engine_json(Engine engine, Arch arch, const std::vector<std::span<const Block>>& queues,
                        const std::vector<ActSet>& act_sets);
std::string neff_json(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                      std::size_t subgraphs);
std::string kelf_json(const std::vector<std::string>& subgraphs, Arch arch);
/// The member `ucode_lib` of def.json names.
std::string ucode_lib_json(const std::vector<Library>& libraries);
std::string info_json(const std::string& name);
std::string act_info_json(const std::vector<ActSet>& sets);
/// Profile of one set; function n has id n + 1 and uses bucket n.
std::string act_profile_json(const ActSet& set);
std::string hlo_stats_json(std::uint64_t mac_count);
std::string metrics_json();

/// "Activation" for ACT and so on: base name of an engine's members.
std::string engine_file(Engine engine);

}  // namespace neffld::sample
