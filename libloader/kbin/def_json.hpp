// SPDX-License-Identifier: MIT
// The section table of one subgraph (spec 02 section 4).
#pragma once

#include "kbin/context.hpp"

namespace neffld {

/// Reads def.json and every file it names into subgraph.kbin.
Result<void> read_subgraph(Subgraph& subgraph, const Member& def);

}  // namespace neffld
