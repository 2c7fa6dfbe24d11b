// SPDX-License-Identifier: MIT
// DMA elements: how an access pattern turns into descriptors (decisions 4, 8, 9, 32).
//
// An element is one innermost run of a descriptor; in a transpose it is one matrix element. A run
// longer than a descriptor can move is cut into pieces that all stay on the element's ring.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "neffld/error.hpp"
#include "neffld/kbin.hpp"
#include "neffld/plan.hpp"

namespace neffld {

/// How one descriptor of a block expands.
struct Expansion {
  std::uint64_t elements = 0;                  ///< ring elements
  std::uint64_t pieces = 1;                    ///< descriptor pairs an element takes
  std::uint64_t from_piece = 0, to_piece = 0;  ///< bytes of a full piece on each side
};
Expansion expand(const DmaDescriptor& descriptor);

/// Bytes one descriptor writes.
std::uint64_t destination_bytes(const DmaDescriptor& descriptor);

/// Descriptor pairs that a laid-down block puts on each of `rings` rings, signals included. Counts
/// stop at `counter_limit`, which is more than any ring may hold.
BlockCounter count_block(const Kbin& kbin, const DmaBlock& block, std::uint32_t rings);
inline constexpr std::uint32_t counter_limit = 1u << 30;

/// The semaphore a laid-down block raises once on every ring: its own, else one of its queue set's
/// (spec 05 B4; a set of several takes turns by block id, as compilers write them, spec 08 s3).
std::optional<std::uint32_t> block_semaphore(const Kbin& kbin, const DmaBlock& block);

/// 4-byte signals that end a block on every ring: event, semaphore, remote semaphores.
std::uint64_t block_signals(const Kbin& kbin, const DmaBlock& block);

/// Multiplication and addition that stop at `element_limit` instead of wrapping: a hostile pattern
/// may ask for any count.
inline constexpr std::uint64_t element_limit = 1ull << 62;
inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return element_limit;
  return std::min(product, element_limit);
}
inline std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > element_limit - std::min(b, element_limit) ? element_limit : a + b;
}

}  // namespace neffld
