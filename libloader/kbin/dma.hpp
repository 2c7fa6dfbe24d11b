// SPDX-License-Identifier: MIT
// DMA blocks and their descriptors (spec 02 section 7.1).
#pragma once

#include <unordered_map>

#include "kbin/context.hpp"
#include "kbin/descriptor_forms.hpp"
#include "kbin/geometry.hpp"

namespace neffld {

/// Reads the `dma` arrays of one subgraph into kbin.blocks and kbin.descriptors. Variables and
/// queue sets must be complete.
class DmaReader {
 public:
  explicit DmaReader(Subgraph& subgraph);

  /// Makes room for what so many bytes of `dma` arrays can hold, so that the records are not moved
  /// while they grow. Pages that stay empty cost nothing.
  void expect(std::size_t json_bytes);

  /// One `dma` array; `engine` is whose file holds it.
  void read_blocks(JsonCursor& cursor, Engine engine);

  /// Whether the block ids are unique in their queue, since a trigger names a block by queue and
  /// id.
  Result<void> check_block_ids() const;

 private:
  struct BlockText;
  DmaBlock read_block(JsonCursor& cursor, Engine engine);
  void resolve_queue(JsonCursor& cursor, const BlockText& text, DmaBlock& block);
  void resolve_function(const BlockText& text, DmaBlock& block);

  void read_descriptors(JsonCursor& cursor, DmaBlock& block);
  void read_descriptor(JsonCursor& cursor, DmaDescriptor& descriptor);
  void check_descriptor(JsonCursor& cursor, const DmaDescriptor& descriptor);
  void check_sides(JsonCursor& cursor, const DmaDescriptor& descriptor);
  void check_one(JsonCursor& cursor, const AccessPattern& side, std::string_view prefix);

  Subgraph& subgraph_;
  DescriptorForms forms_;
  std::uint32_t queue_set_ = 0;  ///< of the last block that named one
  MemoryBounds bounds_;
  std::unordered_map<std::string_view, std::pair<std::uint32_t, std::uint32_t>> instances_;
  std::vector<std::string> functions_;  ///< current function of each queue set, one file
};

/// The bounds check of the descriptors of `kbin` that name a `remote` variable; their sizes are
/// only known when the siblings in `kbins` have been found.
Result<void> check_remote_sides(const ArchTable& arch, const Kbin& kbin,
                                const std::vector<Kbin>& kbins);

MemoryBounds memory_bounds(const ArchTable& arch, const Kbin& kbin);

}  // namespace neffld
