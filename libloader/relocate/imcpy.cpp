// SPDX-License-Identifier: MIT
#include "imcpy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neuron_abi/udma.h"

namespace neffld {
namespace {

constexpr std::uint64_t tx_relative = 1ull << 62;
constexpr std::uint64_t rx_relative = 1ull << 63;
constexpr std::uint64_t offset_mask = tx_relative - 1;

tl::unexpected<Error> refuse(std::uint32_t descriptor, std::string text) {
  return invalid({.path = "RX descriptor", .record = descriptor},
                 "Failed to load imcpy rings to device: " + std::move(text));
}

Result<void> absolutise(ImcpyRing& ring, std::uint32_t descriptor) {
  const std::uint64_t at = std::uint64_t{NEURON_UDMA_DESC_SIZE} * descriptor;
  const MutableBytes half = ring.rx.section();
  if (at > half.size() || NEURON_UDMA_DESC_SIZE > half.size() - at) {
    return refuse(descriptor, fmt::format("the ring has {} bytes", half.size()));
  }
  const auto pointer = load_le<std::uint64_t>(half, at + NEURON_UDMA_DESC_PTR_OFFSET);
  if ((pointer & (tx_relative | rx_relative)) == 0) return {};
  if ((pointer & tx_relative) != 0 && (pointer & rx_relative) != 0) {
    return refuse(descriptor, fmt::format("pointer 0x{:x} is relative to both rings, expected bit "
                                          "62 (TX) or bit 63 (RX)",
                                          pointer));
  }
  const std::uint32_t field_length = load_le<std::uint32_t>(half, at) & NEURON_UDMA_LEN_MASK;
  const std::uint64_t length = field_length ? field_length : NEURON_UDMA_MAX_DESC_BYTES;
  const std::uint64_t offset = pointer & offset_mask;
  const std::uint64_t used_bytes = std::uint64_t{NEURON_UDMA_DESC_SIZE} * ring.used;
  if (offset > used_bytes || length > used_bytes - offset) {
    return refuse(descriptor, fmt::format("it writes {} bytes at ring offset 0x{:x}, expected them "
                                          "inside the ring's {} used bytes",
                                          length, offset, used_bytes));
  }
  const bool to_tx = (pointer & tx_relative) != 0;
  return ring.rx.patch(at + NEURON_UDMA_DESC_PTR_OFFSET, RelocForm::ring_section,
                       (to_tx ? ring.tx_address : ring.rx_address) + offset,
                       {Symbol::Kind::section, to_tx ? ring.tx_request : ring.rx_request, offset},
                       {});
}

}  // namespace

Result<void> absolutise_imcpy(std::span<ImcpyRing> rings) {
  const bool empty =
      std::all_of(rings.begin(), rings.end(), [](const ImcpyRing& ring) { return ring.used == 0; });
  if (empty) {
    return fail(Status::failure, ErrorClass::format, {},
                "trying to load an empty indirect memcpy vring set");
  }
  for (ImcpyRing& ring : rings) {
    for (std::uint32_t i = 0; i < ring.used; ++i) NEFFLD_TRY(absolutise(ring, i));
  }
  return {};
}

}  // namespace neffld
