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

Result<void> RingWriter::refuse_length(const Pair& pair) {
  return invalid({.path = "descriptor"},
                 fmt::format("lengths are {} and {}, expected 1 to {} bytes", pair.from_bytes,
                             pair.to_bytes, NEURON_UDMA_MAX_DESC_BYTES));
}

Result<void> RingWriter::overflow() const {
  return invalid({.path = "ring"},
                 fmt::format("Failed to add descriptor {} to a vring planned for {}", used_ + 1,
                             tx_.section().size() / NEURON_UDMA_DESC_SIZE));
}

}  // namespace neffld
