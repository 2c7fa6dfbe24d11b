// SPDX-License-Identifier: MIT
// The `var` table of def.json (spec 02 section 5).
#pragma once

#include "kbin/context.hpp"

namespace neffld {

/// Reads the table, in file order, into kbin.variables.
void read_variables(JsonCursor& cursor, Subgraph& subgraph);

/// Orders the table by id and checks what needs the whole table: density, outputs, references,
/// scratchpad sizes (spec 02 sections 5.5 and 16.3-16.9).
Result<void> complete_variables(Subgraph& subgraph);

}  // namespace neffld
