// SPDX-License-Identifier: MIT
// The JSON file of one engine (spec 02 section 7).
#pragma once

#include "kbin/dma.hpp"

namespace neffld {

/// Reads the engine's file: DMA blocks, instructions, and the tables of ACT and DVE.
Result<void> read_engine_json(Subgraph& subgraph, DmaReader& dma, Engine engine,
                              const Member& member);

/// Loads the activation sets `names` through act_info (spec 02 section 7.2).
Result<void> load_act_sets(Subgraph& subgraph, const std::string& act_info,
                           const std::vector<std::string>& names);

/// Reads `dve_tables` (spec 02 section 7.3) and checks the sizes (decision 13).
void read_dve_tables(JsonCursor& cursor, Subgraph& subgraph);

}  // namespace neffld
