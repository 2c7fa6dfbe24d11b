// SPDX-License-Identifier: MIT
// What differs between two loaded models once it no longer matters where they were placed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neffld/device_image.hpp"
#include "neffld/layout.hpp"

namespace neffld {

/// One side of a comparison.
struct DiffSide {
  const Layout& layout;
  const DeviceMemoryView& memory;
};

/// A thing that differs. Records of one section are one difference: the first one is shown.
struct Difference {
  std::string what;           ///< e.g. "sg00 ring q.0.3 tx descriptor 2"
  std::string first, second;  ///< what each side has; "" when a side has no such thing
  std::uint64_t count = 1;    ///< differing records or bytes of the section
};

struct DiffResult {
  std::vector<Difference> differences;
  std::uint64_t bytes = 0;  ///< compared on each side
  bool equal() const { return differences.empty(); }
};

/// Compares variables, sections and their contents. Every address in an instruction, descriptor,
/// cell or table is compared by what it names (variable and offset, semaphore of the subgraph's
/// core, register of a queue), so the same model at other addresses or on another core is equal.
/// What outlives a model (exec rings, scratchpad pages) is left out.
Result<DiffResult> diff_models(const DiffSide& first, const DiffSide& second);

}  // namespace neffld
