// SPDX-License-Identifier: MIT
#include "table_ring.hpp"

#include <fmt/format.h>

#include "block_author.hpp"
#include "neuron_abi/ioctl.h"
#include "ring_writer.hpp"

namespace neffld {

std::uint32_t table_ring_descriptors(std::span<const std::uint64_t> table_bytes) {
  constexpr std::uint64_t piece = NEURON_UDMA_MAX_DESC_BYTES;
  std::uint64_t descriptors = 1;  // the event
  for (const std::uint64_t bytes : table_bytes) descriptors += (bytes + piece - 1) / piece;
  return static_cast<std::uint32_t>(descriptors);
}

void plan_table_ring(PlanContext& context, SectionKind tx, SectionKind rx, std::string_view name,
                     TableLoadPlan& load) {
  const std::uint64_t bytes = std::uint64_t{NEURON_UDMA_DESC_SIZE} * linear_ring_size(load.used);
  load.tx_request = context.add(tx, 0, bytes, NEURON_RING_BASE_ALIGN, MemUsage::rings_runtime,
                                fmt::format("{} tx ring", name));
  load.rx_request = context.add(rx, 0, bytes, NEURON_RING_BASE_ALIGN, MemUsage::rings_runtime,
                                fmt::format("{} rx ring", name));
}

Result<void> emit_table_ring(const EmitContext& context, std::span<const TableCopy> tables,
                             std::uint32_t event, const TableLoadPlan& load) {
  const std::size_t bytes = std::size_t{NEURON_UDMA_DESC_SIZE} * linear_ring_size(load.used);
  std::vector<std::uint8_t> tx(bytes), rx(bytes);
  RingWriter ring(context.patcher(tx, load.tx_request), context.patcher(rx, load.rx_request),
                  context.arch.caps.strong_order_writes);
  for (const TableCopy& table : tables) {
    const RingPointer from{0,
                           context.address_of(table.request),
                           RelocForm::ring_section,
                           {Symbol::Kind::section, table.request, 0}};
    const RingPointer to{0,
                         table.destination,
                         RelocForm::ring_register,
                         {Symbol::Kind::device_register, 0, table.destination}};
    NEFFLD_TRY(ring.append_copy(from, to, table.bytes, {}));
  }
  const KbinPlan& planned = context.planned();
  NEFFLD_TRY(ring.append_signal(planned.constant_block, context.signal_source(),
                                event_register(context.arch, planned.core, event), {}));
  NEFFLD_TRY(context.sink({load.tx_request, tx, true}));
  return context.sink({load.rx_request, rx, true});
}

}  // namespace neffld
