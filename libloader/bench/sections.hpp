// SPDX-License-Identifier: MIT
// The finished sections of a model in host memory, and what was patched in them.
#pragma once

#include <optional>
#include <vector>

#include "host_pages.hpp"
#include "neffld/session.hpp"

namespace neffld::bench {

/// One patch, as small as it gets: a model has millions.
struct Patch {
  std::uint64_t value = 0;
  std::uint32_t offset = 0;  ///< bytes in the section
  std::uint8_t width = 0;    ///< bytes
  RelocForm form = RelocForm::opcode;
};

struct Section {
  std::uint32_t request = 0, kbin = 0;
  bool descriptors = false;
  Bytes bytes;                   ///< of `own`, or constants where the container holds them
  std::optional<HostPages> own;  ///< what relocation made, in the kind of memory it makes it in
  std::vector<Patch> patches;    ///< in the order they were made
};

/// Relocates `model` at its addresses into host memory.
Result<std::vector<Section>> relocated_sections(const LoadedModel& model);

}  // namespace neffld::bench
