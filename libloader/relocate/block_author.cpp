// SPDX-License-Identifier: MIT
#include "block_author.hpp"

#include <fmt/format.h>

#include "elements.hpp"
#include "neuron_abi/address_map.h"

namespace neffld {
namespace {

/// One side of a descriptor while its runs are walked.
struct Side {
  RingPointer pointer;  ///< of offset 0 in the variable
  const AccessPattern* pattern;

  RingPointer at(std::uint64_t offset) const {
    RingPointer here = pointer;
    here.symbolic += offset;
    here.value += offset;
    here.symbol.addend = offset;
    return here;
  }
};

Result<Side> make_side(const AccessPattern& pattern, std::span<const PointerBase> bases) {
  const PointerBase& base = bases[pattern.var_id];
  if (base.kind == PointerBase::Kind::none) {
    return invalid(
        {}, fmt::format("variable {} has no address a descriptor could name", pattern.var_id));
  }
  RingPointer pointer;
  pointer.symbolic = template_bit | std::uint64_t{pattern.var_id} << template_var_shift;
  pointer.value = base.value;
  pointer.form =
      base.kind == PointerBase::Kind::placed ? RelocForm::ring_pointer : RelocForm::ring_io;
  pointer.symbol = {Symbol::Kind::variable, pattern.var_id, 0};
  return Side{pointer, &pattern};
}

/// Walks the runs of a copy or cast, dim 1 fastest, and calls `element(from, to)` offsets until it
/// says false.
template <class Element>
void for_each_run(const AccessPattern& from, const AccessPattern& to, Element element) {
  const auto step = [](const AccessPattern& side, std::size_t dim, std::uint64_t index) {
    return static_cast<std::uint64_t>(side.steps[dim]) * index;  // wraps as signed would
  };
  for (std::uint64_t k = 0; k < from.sizes[3]; ++k) {
    for (std::uint64_t j = 0; j < from.sizes[2]; ++j) {
      std::uint64_t source = from.offset + step(from, 3, k) + step(from, 2, j);
      std::uint64_t target = to.offset + step(to, 3, k) + step(to, 2, j);
      for (std::uint64_t i = 0; i < from.sizes[1]; ++i) {
        if (!element(source, target)) [[unlikely]]
          return;
        source += static_cast<std::uint64_t>(from.steps[1]);
        target += static_cast<std::uint64_t>(to.steps[1]);
      }
    }
  }
}

/// The same for the elements of a transpose: tiles dim 3 then dim 2, source rows, source columns.
template <class Element>
void for_each_transposed(const DmaDescriptor& descriptor, Element element) {
  const AccessPattern& from = descriptor.from;
  const AccessPattern& to = descriptor.to;
  const std::uint64_t size = descriptor.transpose_element_size;
  const std::uint64_t columns = from.sizes[0] / size;
  const auto tile = [](const AccessPattern& side, std::uint64_t k, std::uint64_t j) {
    return side.offset + static_cast<std::uint64_t>(side.steps[3]) * k +
           static_cast<std::uint64_t>(side.steps[2]) * j;
  };
  for (std::uint64_t k = 0; k < from.sizes[3]; ++k) {
    for (std::uint64_t j = 0; j < from.sizes[2]; ++j) {
      for (std::uint64_t y = 0; y < from.sizes[1]; ++y) {
        const std::uint64_t row = tile(from, k, j) + static_cast<std::uint64_t>(from.steps[1]) * y;
        const std::uint64_t column = tile(to, k, j) + y * size;
        for (std::uint64_t x = 0; x < columns; ++x) {
          const std::uint64_t target = column + static_cast<std::uint64_t>(to.steps[1]) * x;
          if (!element(row + x * size, target)) [[unlikely]]
            return;
        }
      }
    }
  }
}

/// Only the simulated device knows this encoding (decision 9).
std::uint32_t cast_meta(const DmaDescriptor& descriptor) {
  return (NEURON_UDMA_META_COPY & ~NEURON_UDMA_META_OP_MASK) |
         NEURON_UDMA_META_OP_CAST << NEURON_UDMA_META_OP_SHIFT |
         std::uint32_t{descriptor.from.dtype} << NEURON_UDMA_CAST_SRC_SHIFT |
         std::uint32_t{descriptor.to.dtype} << NEURON_UDMA_CAST_DST_SHIFT;
}

}  // namespace

std::uint64_t event_register(const ArchTable& arch, std::uint32_t core, std::uint32_t event) {
  return arch.tpb_base[core] + arch.event_unit + NEURON_EVENT_UNIT_EVENTS +
         std::uint64_t{NEURON_EVENT_UNIT_ENTRY_SIZE} * event;
}

std::uint64_t semaphore_increment_register(const ArchTable& arch, std::uint32_t core,
                                           std::uint32_t semaphore) {
  return arch.tpb_base[core] + arch.event_unit + NEURON_EVENT_UNIT_SEM_INCREMENT +
         std::uint64_t{NEURON_EVENT_UNIT_ENTRY_SIZE} * semaphore;
}

Result<void> BlockAuthor::lay_descriptor(std::uint32_t descriptor_index, std::uint32_t& next,
                                         std::span<RingWriter> rings) const {
  const DmaDescriptor& descriptor = kbin.descriptors[descriptor_index];
  NEFFLD_ASSIGN(const Side from, make_side(descriptor.from, bases));
  NEFFLD_ASSIGN(const Side to, make_side(descriptor.to, bases));
  const Expansion expansion = expand(descriptor);
  const SourceRecord source{SourceRecord::Kind::descriptor, descriptor_index};
  const std::uint32_t meta =
      descriptor.op == DmaOp::cast ? cast_meta(descriptor) : NEURON_UDMA_META_COPY;
  // A transpose moves single matrix elements, everything else whole innermost runs.
  const bool transposed = descriptor.op == DmaOp::transpose;
  const std::uint64_t from_run = transposed ? expansion.from_piece : descriptor.from.sizes[0];
  const std::uint64_t to_run = transposed ? expansion.to_piece : descriptor.to.sizes[0];

  Result<void> result;
  const auto append = [&](RingWriter& ring, const RingWriter::Pair& pair) {
    if (ring.try_append(pair)) [[likely]]
      return true;
    result = ring.refuse(pair);
    return false;
  };
  const auto element = [&](std::uint64_t from_offset, std::uint64_t to_offset) {
    RingWriter& ring = rings[next];
    next = next + 1 == rings.size() ? 0 : next + 1;
    if (expansion.pieces == 1) {
      return append(ring, {from.at(from_offset), to.at(to_offset),
                           static_cast<std::uint32_t>(expansion.from_piece),
                           static_cast<std::uint32_t>(expansion.to_piece), meta, true, source});
    }
    std::uint64_t from_left = from_run, to_left = to_run;
    for (std::uint64_t piece = 0; piece < expansion.pieces; ++piece) {
      const auto from_bytes = static_cast<std::uint32_t>(std::min(from_left, expansion.from_piece));
      const auto to_bytes = static_cast<std::uint32_t>(std::min(to_left, expansion.to_piece));
      from_left -= from_bytes;
      to_left -= to_bytes;
      const RingWriter::Pair pair{from.at(from_offset + piece * expansion.from_piece),
                                  to.at(to_offset + piece * expansion.to_piece),
                                  from_bytes,
                                  to_bytes,
                                  meta,
                                  piece + 1 == expansion.pieces,
                                  source};
      if (!append(ring, pair)) return false;
    }
    return true;
  };
  if (transposed) {
    for_each_transposed(descriptor, element);
  } else {
    for_each_run(descriptor.from, descriptor.to, element);
  }
  return result;
}

Result<void> BlockAuthor::lay_signals(const DmaBlock& block, std::uint32_t block_index,
                                      std::span<RingWriter> rings) const {
  const SourceRecord source{SourceRecord::Kind::block, block_index};
  const std::optional<std::uint32_t> semaphore = block_semaphore(kbin, block);
  for (RingWriter& ring : rings) {
    const auto signal = [&](std::uint64_t register_address) {
      return ring.append_signal(constant_block, signal_source, register_address, source);
    };
    if (block.event) NEFFLD_TRY(signal(event_register(arch, core, *block.event)));
    if (semaphore) NEFFLD_TRY(signal(semaphore_increment_register(arch, core, *semaphore)));
    for (const std::uint32_t remote : block.remote_semaphores) {
      NEFFLD_TRY(signal(semaphore_increment_register(arch, sibling_core, remote)));
    }
  }
  return {};
}

Result<void> BlockAuthor::lay_down(std::uint32_t block_index, std::span<RingWriter> rings) const {
  const DmaBlock& block = kbin.blocks[block_index];
  std::uint32_t next = 0;  // elements are numbered over all descriptors of the block
  std::array<std::uint32_t, std::tuple_size_v<BlockCounter>> starts{};
  for (std::size_t k = 0; k < rings.size(); ++k) starts[k] = rings[k].used();
  for (std::uint32_t i = 0; i < block.descriptor_count; ++i) {
    NEFFLD_TRY(lay_descriptor(block.first_descriptor + i, next, rings));
  }
  if (packet_bytes != 0) {  // signals stay packets of their own
    for (std::size_t k = 0; k < rings.size(); ++k) rings[k].pack(starts[k], packet_bytes);
  }
  return lay_signals(block, block_index, rings);
}

}  // namespace neffld
