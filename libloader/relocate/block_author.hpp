// SPDX-License-Identifier: MIT
// Lays DMA blocks down on the rings of a queue set (decisions 4, 8, 9, 31, 32, 36, 37).
#pragma once

#include <span>
#include <vector>

#include "neffld/relocate.hpp"
#include "resolve.hpp"
#include "ring_writer.hpp"

namespace neffld {

/// Everything a block needs to become descriptors.
struct BlockAuthor {
  const Kbin& kbin;
  const ArchTable& arch;
  std::uint32_t core = 0;
  std::uint32_t sibling_core = 0;  ///< target of remote semaphores; == core when there is none
  std::uint32_t constant_block = 0;
  std::uint64_t signal_source = 0;
  std::span<const PointerBase> bases;  ///< by var_id
  std::uint64_t packet_bytes = 0;      ///< 0 = every copy is a packet

  /// Appends one block to `rings` (ring k at index k).
  Result<void> lay_down(std::uint32_t block_index, std::span<RingWriter> rings) const;

 private:
  Result<void> lay_descriptor(std::uint32_t descriptor_index, std::uint32_t& next,
                              std::span<RingWriter> rings) const;
  Result<void> lay_signals(const DmaBlock& block, std::uint32_t block_index,
                           std::span<RingWriter> rings) const;
};

/// Address of a semaphore's increment register on a core.
std::uint64_t semaphore_increment_register(const ArchTable& arch, std::uint32_t core,
                                           std::uint32_t semaphore);
/// Address of an event on a core.
std::uint64_t event_register(const ArchTable& arch, std::uint32_t core, std::uint32_t event);

}  // namespace neffld
