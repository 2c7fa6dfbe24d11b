// SPDX-License-Identifier: MIT
// What a DMA descriptor's access patterns may be, as far as no address is needed (decisions 10, 11,
// 32; spec 08 section 3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "neffld/kbin.hpp"

namespace neffld {

/// A broken rule: at which field of the descriptor, and the sentence.
struct GeometryProblem {
  std::string field;  ///< ".from_sizes"
  std::string text;
};

/// The limits of one subgraph's memories.
struct MemoryBounds {
  std::uint32_t partitions;        ///< of the SBUF
  std::uint64_t partition_stride;  ///< address step from one partition to the next
  std::uint64_t partition_limit;   ///< bytes of a partition that may be touched
};

/// Checks that one side stays inside its variable. `prefix` is "from" or "to".
std::optional<GeometryProblem> check_side(const AccessPattern& side, const Variable& variable,
                                          const MemoryBounds& bounds, std::string_view prefix);

/// Checks that the two sides of a descriptor fit each other, by its op.
std::optional<GeometryProblem> check_shapes(const DmaDescriptor& descriptor, const Kbin& kbin);

}  // namespace neffld
