// SPDX-License-Identifier: MIT
#include "ring_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neffld {

Result<void> RingWriter::append_copy(RingPointer from, RingPointer to, std::uint64_t bytes,
                                     SourceRecord source) {
  for (std::uint64_t done = 0; done < bytes;) {
    const auto piece = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(bytes - done, NEURON_UDMA_MAX_DESC_BYTES));
    done += piece;
    NEFFLD_TRY(append({from, to, piece, piece, NEURON_UDMA_META_COPY, done == bytes, source}));
    for (RingPointer* pointer : {&from, &to}) {
      pointer->symbolic += piece;
      pointer->value += piece;
      pointer->symbol.addend += piece;
    }
  }
  return {};
}

std::uint32_t RingWriter::pack(std::uint32_t first, std::uint64_t packet_bytes) {
  constexpr std::uint32_t packet_bits = NEURON_UDMA_FIRST | NEURON_UDMA_LAST | NEURON_UDMA_CONCAT;
  const MutableBytes tx = tx_.section();
  const auto control_at = [](std::uint32_t i) { return std::uint64_t{NEURON_UDMA_DESC_SIZE} * i; };
  std::uint32_t packets = 0, in_packet = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t i = first; i < used_; ++i) {
    std::uint32_t control = load_le<std::uint32_t>(tx, control_at(i)) & ~packet_bits;
    const std::uint32_t field = control & NEURON_UDMA_LEN_MASK;
    const std::uint64_t length = field ? field : NEURON_UDMA_MAX_DESC_BYTES;
    const bool opens =
        in_packet == 0 || in_packet == max_packet_descriptors || bytes + length > packet_bytes;
    if (opens) {
      control |= NEURON_UDMA_FIRST;
      ++packets;
      in_packet = 0;
      bytes = 0;
    } else {  // the one before is not the last of its packet any more
      const auto before = load_le<std::uint32_t>(tx, control_at(i - 1));
      store_le(tx, control_at(i - 1), (before & ~NEURON_UDMA_LAST) | NEURON_UDMA_CONCAT);
    }
    store_le(tx, control_at(i), control | NEURON_UDMA_LAST);
    ++in_packet;
    bytes += length;
  }
  return packets;
}

Result<void> RingWriter::append_signal(std::uint32_t constant_block, std::uint64_t signal_source,
                                       std::uint64_t register_address, SourceRecord source) {
  const RingPointer from{
      4, signal_source, RelocForm::ring_section, {Symbol::Kind::section, constant_block, 4}};
  const RingPointer to{0,
                       register_address,
                       RelocForm::ring_register,
                       {Symbol::Kind::device_register, 0, register_address}};
  return append({from, to, 4, 4, NEURON_UDMA_META_COPY, true, source});
}

Result<void> RingWriter::refuse(const Pair& pair) const {
  if (fits(pair)) {
    return invalid(
        {.path = "ring"},
        fmt::format("Failed to add descriptor {} to a vring planned for {}", used_ + 1, capacity_));
  }
  return invalid({.path = "descriptor"},
                 fmt::format("lengths are {} and {}, expected 1 to {} bytes", pair.from_bytes,
                             pair.to_bytes, NEURON_UDMA_MAX_DESC_BYTES));
}

}  // namespace neffld
