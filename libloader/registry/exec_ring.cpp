// SPDX-License-Identifier: MIT
#include "exec_ring.hpp"

#include <algorithm>

#include "neuron_abi/udma.h"

namespace neffld {
namespace {

void put(MutableBytes ring, std::size_t number, std::uint32_t control, std::uint32_t second,
         std::uint64_t address) {
  const std::size_t at = number * NEURON_UDMA_DESC_SIZE;
  store_le(ring, at, control);
  store_le(ring, at + 4, second);
  store_le(ring, at + NEURON_UDMA_DESC_PTR_OFFSET, address);
}

}  // namespace

Result<void> ExecRing::write(DeviceCalls& calls, const DeviceMemory& half, Bytes descriptors,
                             bool tx) const {
  constexpr std::uint64_t size = NEURON_UDMA_DESC_SIZE;
  // Two runs where the ring wraps.
  const std::uint32_t first = queue_.at(0).index;
  const std::uint64_t run =
      std::min<std::uint64_t>(descriptors.size(), size * (queue_.count() - first));
  NEFFLD_TRY(calls.copy_descriptors(half.handle, descriptors.first(run), tx, size * first));
  if (run == descriptors.size()) return {};
  return calls.copy_descriptors(half.handle, descriptors.subspan(run), tx);
}

Result<void> ExecRing::append(DeviceCalls& calls, std::span<const Copy> copies) {
  std::vector<std::uint8_t> tx(copies.size() * NEURON_UDMA_DESC_SIZE), rx(tx.size());
  const auto count = static_cast<std::uint32_t>(copies.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Copy& copy = copies[i];
    const std::uint32_t common =
        (copy.bytes & NEURON_UDMA_LEN_MASK) | queue_.at(i).ring_id << NEURON_UDMA_RING_ID_SHIFT;
    const std::uint32_t barrier = strong_order_ ? 0 : NEURON_UDMA_DMB;
    put(tx, i, common | barrier | NEURON_UDMA_FIRST | NEURON_UDMA_LAST, NEURON_UDMA_META_COPY,
        copy.from);
    put(rx, i, common | (strong_order_ ? NEURON_UDMA_STRONG_ORDER_WR : 0), 0, copy.to);
  }
  NEFFLD_TRY(write(calls, tx_, tx, true));
  NEFFLD_TRY(write(calls, rx_, rx, false));
  queue_.advance(count);
  return {};
}

}  // namespace neffld
