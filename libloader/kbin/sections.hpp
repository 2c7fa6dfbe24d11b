// SPDX-License-Identifier: MIT
// The smaller sections of def.json (spec 02 section 8).
#pragma once

#include "kbin/context.hpp"

namespace neffld {

void read_replica_groups(JsonCursor& cursor, Kbin& kbin);
void read_src_target_pairs(JsonCursor& cursor, Kbin& kbin);
void read_cc_streams(JsonCursor& cursor, Kbin& kbin);
void read_fp8_config(JsonCursor& cursor, Kbin& kbin);

/// `runtime_statebuffer_reservation`, with the value check of spec 03 section 5.
void read_carveouts(JsonCursor& cursor, Subgraph& subgraph);

/// `ucode_lib` as an inline array; as a string it is `load_ucode_file`'s.
void read_ucode_libraries(JsonCursor& cursor, Subgraph& subgraph);
Result<void> load_ucode_file(Subgraph& subgraph, const std::string& file);

}  // namespace neffld
