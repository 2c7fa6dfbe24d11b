// SPDX-License-Identifier: MIT
// Keeps the rows of an IP map while an image is assembled (spec 05 A8).
#pragma once

#include "neffld/relocate.hpp"

namespace neffld {

/// Failures cost debug information only, so they leave a warning in the map and no error.
class IpMapBuilder {
 public:
  explicit IpMapBuilder(IpMap& map) : map_(map) {}

  /// The section that starts at this byte of the image; the one before it ends there.
  void begin(IpSection section, std::uint64_t image_offset);
  /// `source` records became `emitted` ones at this byte of the image. One for one needs no row.
  void lowered(std::uint64_t image_offset, std::uint64_t source, std::uint64_t emitted);
  /// The image ends; the stream had that many records.
  void end(std::uint64_t image_offset, std::uint64_t source_slots);

 private:
  void append(std::uint64_t offset, std::uint64_t bytes, IpChange change);
  void close(std::uint64_t image_offset);

  IpMap& map_;
  IpSection section_ = IpSection::preamble;
  std::uint64_t start_ = 0;  ///< of the section that rows are relative to
};

}  // namespace neffld
