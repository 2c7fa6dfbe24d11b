// SPDX-License-Identifier: MIT
// Authors the two halves of a ring, descriptor pair by descriptor pair (spec 05 B1-B4).
#pragma once

#include <algorithm>

#include "neuron_abi/udma.h"
#include "patcher.hpp"

namespace neffld {

inline constexpr std::uint32_t max_packet_descriptors = 64;  // spec 04 section 13 rule 4

/// One pointer of a descriptor: what it says before and after relocation.
struct RingPointer {
  std::uint64_t symbolic = 0;  ///< template form, or the offset in the symbol
  std::uint64_t value = 0;     ///< device address; a template pointer while unbound
  RelocForm form = RelocForm::ring_pointer;
  Symbol symbol;
};

/// Appends descriptor pairs to a ring. The buffers belong to the caller.
class RingWriter {
 public:
  /// `strong_order`: order writes with the RX flag, else with the TX barrier (decision 31).
  RingWriter(Patcher tx, Patcher rx, bool strong_order)
      : tx_(tx),
        rx_(rx),
        capacity_(std::min(tx.section().size(), rx.section().size()) / NEURON_UDMA_DESC_SIZE),
        strong_order_(strong_order) {}

  struct Pair {
    RingPointer from, to;
    std::uint32_t from_bytes = 0, to_bytes = 0;  ///< 1..65536
    std::uint32_t meta = NEURON_UDMA_META_COPY;
    bool last = true;  ///< last piece of its element
    SourceRecord source;
  };

  /// Appends one pair: a packet of its own (FIRST and LAST on TX, decision 12).
  Result<void> append(const Pair& pair) {
    if (try_append(pair)) [[likely]]
      return {};
    return refuse(pair);
  }
  /// The same, and false instead of the error, which refuse() makes: see Patcher::try_patch.
  [[gnu::always_inline]] bool try_append(const Pair& pair) {
    const std::uint64_t at = std::uint64_t{used_} * NEURON_UDMA_DESC_SIZE;
    if (used_ >= capacity_ || !fits(pair)) [[unlikely]]
      return false;
    constexpr std::uint32_t ring_id = NEURON_UDMA_FIRST_RING_ID << NEURON_UDMA_RING_ID_SHIFT;
    std::uint32_t tx_control =
        length(pair.from_bytes) | ring_id | NEURON_UDMA_FIRST | NEURON_UDMA_LAST;
    std::uint32_t rx_control = length(pair.to_bytes) | ring_id;
    if (strong_order_) {
      rx_control |= NEURON_UDMA_STRONG_ORDER_WR;
    } else if (pair.last) {
      tx_control |= NEURON_UDMA_DMB;
    }
    ++used_;
    return write(tx_, at, tx_control, pair.meta, pair.from, pair.source) &&
           write(rx_, at, rx_control, 0, pair.to, pair.source);
  }
  /// Why the pair could not be appended.
  Result<void> refuse(const Pair& pair) const;

  /// Appends a copy of any length in pieces of at most 65536 bytes (spec 05 B2).
  Result<void> append_copy(RingPointer from, RingPointer to, std::uint64_t bytes,
                           SourceRecord source);

  /// Appends a 4-byte signal: the constant 1 goes to an event or semaphore register.
  Result<void> append_signal(std::uint32_t constant_block, std::uint64_t signal_source,
                             std::uint64_t register_address, SourceRecord source);

  /// Makes packets of the TX descriptors [first, used): as many as fit `packet_bytes` and
  /// `max_packet_descriptors`, at least one (spec 04 section 5). Returns the packets made.
  std::uint32_t pack(std::uint32_t first, std::uint64_t packet_bytes);

  /// Descriptors written to each half.
  std::uint32_t used() const { return used_; }

 private:
  static std::uint32_t length(std::uint32_t bytes) { return bytes & NEURON_UDMA_LEN_MASK; }

  [[gnu::always_inline]] static bool write(Patcher& half, std::uint64_t at, std::uint32_t control,
                                           std::uint32_t second, const RingPointer& pointer,
                                           SourceRecord source) {
    store_le(half.section(), at, control);
    store_le(half.section(), at + 4, second);
    return half.try_patch_fresh(at + NEURON_UDMA_DESC_PTR_OFFSET, pointer.form, pointer.symbolic,
                                pointer.value, pointer.symbol, source);
  }

  static bool fits(std::uint32_t bytes) {
    return bytes - 1 < NEURON_UDMA_MAX_DESC_BYTES;  // 0 wraps and is refused too
  }
  static bool fits(const Pair& pair) { return fits(pair.from_bytes) && fits(pair.to_bytes); }

  Patcher tx_, rx_;
  std::uint64_t capacity_;  ///< descriptors that fit each half
  bool strong_order_;
  std::uint32_t used_ = 0;
};

}  // namespace neffld
