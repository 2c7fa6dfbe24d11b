// SPDX-License-Identifier: MIT
// From the plan to finished sections, in host memory: what relocation costs without any copy.
#pragma once

#include <span>

#include "measure.hpp"
#include "sections.hpp"
#include "subject.hpp"

namespace neffld::bench {

/// Three things happen in one pass of a load and are taken apart here. Translating instructions
/// decodes every slot, writes the lowered ones and patches them. Authoring rings makes descriptors
/// of DMA blocks with their pointers. Relocation proper is the patches of instructions, tables and
/// cells alone: each is made again, through the same primitive, on the finished bytes. So are the
/// pointers of descriptors, as a row of their own.
class RelocationBench {
 public:
  /// `sections` are those of `model`; patches are made in them.
  RelocationBench(const LoadedModel& model, std::span<Section> sections)
      : model_(model), sections_(sections) {}
  Result<void> round();
  void report(FileReport& report) const;
  double patch_seconds() const { return patches_.seconds(); }  ///< descriptors left out

 private:
  const LoadedModel& model_;
  std::span<Section> sections_;
  Best tables_, instructions_, rings_, patches_, pointers_;
};

}  // namespace neffld::bench
