// SPDX-License-Identifier: MIT
// Requests for what belongs to a core and outlives the model that was first to need it.
#pragma once

#include "neffld/plan.hpp"

namespace neffld {

CoreState state_of(const PlanOptions& options, std::uint32_t core);

/// Appends a shared request on the core and HBM of a kbin.
void add_shared(Plan& plan, std::uint32_t kbin, SectionKind kind, std::uint32_t index,
                std::uint64_t size, std::uint64_t align, MemUsage usage, std::string owner);

}  // namespace neffld
