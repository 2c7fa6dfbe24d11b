// SPDX-License-Identifier: MIT
// `remote` variables: names for variables of a sibling subgraph (spec 02 sections 12, 16.10).
#pragma once

#include "kbin/context.hpp"

namespace neffld {

/// Binds the remote variables of `kbins[self]`. `subgraph` gives the places for errors.
Result<void> resolve_remotes(const Subgraph& subgraph, std::vector<Kbin>& kbins, std::size_t self);

}  // namespace neffld
