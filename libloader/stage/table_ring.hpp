// SPDX-License-Identifier: MIT
// The internal ring that moves engine tables from HBM into an engine's local memory and then sets
// the event that says so (spec 04 section 2.3: ACT tables, DVE configuration).
#pragma once

#include <span>
#include <vector>

#include "builders.hpp"

namespace neffld {

/// One table: its section in HBM and where the ring copies it.
struct TableCopy {
  std::uint32_t request = 0;
  std::uint64_t bytes = 0;
  std::uint64_t destination = 0;  ///< device address
};

/// Descriptors each half needs for tables of these sizes and the event.
std::uint32_t table_ring_descriptors(std::span<const std::uint64_t> table_bytes);

/// Adds the requests of both halves of a ring of `load.used` descriptors to `load`.
void plan_table_ring(PlanContext& context, SectionKind tx, SectionKind rx, std::string_view name,
                     TableLoadPlan& load);

/// Authors both halves and hands them to the sink.
Result<void> emit_table_ring(const EmitContext& context, std::span<const TableCopy> tables,
                             std::uint32_t event, const TableLoadPlan& load);

}  // namespace neffld
