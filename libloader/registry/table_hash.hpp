// SPDX-License-Identifier: MIT
// Which engine tables a subgraph wants, so that tables which are in the engines already are not
// loaded again (spec 04 section 9: load_act_dve_tables).
#pragma once

#include "core_unit.hpp"

namespace neffld {

/// Hash of the staged tables of a subgraph, read back from the device; all zero if it has none.
Result<TableHash> hash_tables(DeviceCalls& calls, const Plan& plan, std::uint32_t kbin,
                              std::span<const DeviceMemory> by_request);

}  // namespace neffld
