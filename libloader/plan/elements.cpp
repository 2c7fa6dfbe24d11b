// SPDX-License-Identifier: MIT
#include "elements.hpp"

#include <algorithm>

#include "neuron_abi/udma.h"

namespace neffld {
namespace {

constexpr std::uint64_t max_piece = NEURON_UDMA_MAX_DESC_BYTES;

std::uint64_t outer_count(const AccessPattern& side) {
  std::uint64_t count = 1;
  for (std::size_t dim = 1; dim < side.dims; ++dim) {
    count = saturating_multiply(count, side.sizes[dim]);
  }
  return count;
}

std::uint64_t total_bytes(const AccessPattern& side) {
  return saturating_multiply(side.sizes[0], outer_count(side));
}

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0);
}

}  // namespace

Expansion expand(const DmaDescriptor& descriptor) {
  const AccessPattern& from = descriptor.from;
  const AccessPattern& to = descriptor.to;
  if (descriptor.op == DmaOp::transpose) {
    const std::uint64_t size = descriptor.transpose_element_size;
    return {total_bytes(from) / size, 1, size, size};
  }
  if (descriptor.op == DmaOp::cast) {
    // Both sides of a piece hold the same number of values.
    const std::uint64_t from_value = dtype_bytes(from.dtype), to_value = dtype_bytes(to.dtype);
    const std::uint64_t values = from.sizes[0] / from_value;
    const std::uint64_t per_piece = std::min(values, max_piece / std::max(from_value, to_value));
    return {outer_count(from), divide_up(values, per_piece), per_piece * from_value,
            per_piece * to_value};
  }
  const std::uint64_t piece = std::min(from.sizes[0], max_piece);
  return {outer_count(from), divide_up(from.sizes[0], max_piece), piece, piece};
}

std::uint64_t destination_bytes(const DmaDescriptor& descriptor) {
  return total_bytes(descriptor.to);
}

std::optional<std::uint32_t> block_semaphore(const Kbin& kbin, const DmaBlock& block) {
  if (block.semaphore) return block.semaphore;
  const auto& set = kbin.queue_sets[block.queue_set].semaphores;
  if (set.empty()) return std::nullopt;
  return set[block.id % set.size()];
}

std::uint64_t block_signals(const Kbin& kbin, const DmaBlock& block) {
  return (block.event ? 1u : 0u) + (block_semaphore(kbin, block) ? 1u : 0u) +
         block.remote_semaphores.size();
}

BlockCounter count_block(const Kbin& kbin, const DmaBlock& block, std::uint32_t rings) {
  std::array<std::uint64_t, std::tuple_size_v<BlockCounter>> pairs{};
  std::uint32_t next = 0;  // ring of the block's next element
  for (std::uint32_t i = 0; i < block.descriptor_count; ++i) {
    const Expansion e = expand(kbin.descriptors[block.first_descriptor + i]);
    const std::uint64_t rounds = e.elements / rings;
    const auto rest = static_cast<std::uint32_t>(e.elements % rings);
    for (std::uint32_t k = 0; k < rings; ++k) {
      const std::uint32_t distance = (k + rings - next) % rings;
      const std::uint64_t elements = rounds + (distance < rest ? 1 : 0);
      pairs[k] = saturating_add(pairs[k], saturating_multiply(elements, e.pieces));
    }
    next = (next + rest) % rings;
  }
  BlockCounter counter{};
  for (std::uint32_t k = 0; k < rings; ++k) {
    counter[k] = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        saturating_add(pairs[k], block_signals(kbin, block)), counter_limit));
  }
  return counter;
}

}  // namespace neffld
