// SPDX-License-Identifier: MIT
// The `dma_queue` table of def.json (spec 02 section 6).
#pragma once

#include "kbin/context.hpp"

namespace neffld {

/// Reads the queue sets into kbin.queue_sets.
void read_queue_sets(JsonCursor& cursor, Subgraph& subgraph);

/// Puts them in kbin order and checks what needs all of them (spec 02 sections 16.11, 16.12).
Result<void> complete_queue_sets(Subgraph& subgraph);

}  // namespace neffld
