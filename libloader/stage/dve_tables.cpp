// SPDX-License-Identifier: MIT
// DVE configuration tables and the ring that loads them (spec 04 section 2.3 "DVE config",
// decision 13).
#include <bit>
#include <vector>

#include "builders.hpp"
#include "table_ring.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t table_align = 64;
constexpr std::uint32_t dve_tables_load_event = 7;

struct DveTable {
  SectionKind kind;
  const char* name;
  Bytes bytes;
  ArchTable::Table place;
};

/// 256 floats 1/(i+1).
const std::vector<std::uint8_t>& parameter_ram() {
  static const std::vector<std::uint8_t> ram = [] {
    std::vector<std::uint8_t> bytes(1024);
    for (std::size_t i = 0; i < 256; ++i) {
      const float value = 1.0F / static_cast<float>(i + 1);
      store_le(bytes, 4 * i, std::bit_cast<std::uint32_t>(value));
    }
    return bytes;
  }();
  return ram;
}

/// The tables in copy order: opcode, control (fast, slow), datapath, parameter RAM.
std::vector<DveTable> tables_of(const DveTables& dve, const ArchTable& arch) {
  std::vector<DveTable> tables = {
      {SectionKind::dve_opcode, "dve opcode", dve.opcode, arch.dve_opcode},
      {SectionKind::dve_control_fast,
       arch.caps.split_control_tables ? "dve control fast" : "dve control", dve.control_fast,
       arch.dve_control_fast},
  };
  if (arch.caps.split_control_tables) {
    tables.push_back({SectionKind::dve_control_slow, "dve control slow", dve.control_slow,
                      arch.dve_control_slow});
  }
  tables.push_back({SectionKind::dve_datapath, "dve datapath", dve.datapath, arch.dve_datapath});
  tables.push_back(
      {SectionKind::dve_param_ram, "dve param ram", parameter_ram(), arch.dve_param_ram});
  return tables;
}

}  // namespace

Result<void> plan_dve_tables(PlanContext& context) {
  if (!context.kbin().dve) return {};
  TableLoadPlan load;
  std::vector<std::uint64_t> sizes;
  for (const DveTable& table : tables_of(*context.kbin().dve, context.arch)) {
    const std::uint32_t request =
        context.add(table.kind, 0, table.bytes.size(), table_align, MemUsage::runtime, table.name);
    if (sizes.empty()) load.first = request;
    sizes.push_back(table.bytes.size());
  }
  load.used = table_ring_descriptors(sizes);
  plan_table_ring(context, SectionKind::dve_tx_ring, SectionKind::dve_rx_ring, "dve", load);
  context.out().dve = load;
  return {};
}

Result<void> emit_dve_tables(const EmitContext& context) {
  const KbinPlan& planned = context.planned();
  if (!planned.dve) return {};
  std::uint32_t request = planned.dve->first;
  std::vector<TableCopy> copies;
  for (const DveTable& table : tables_of(*context.kbin().dve, context.arch)) {
    NEFFLD_TRY(context.sink({request, table.bytes, false}));
    copies.push_back(
        {request, table.bytes.size(),
         context.arch.tpb_base[planned.core] + context.arch.engine_window + table.place.offset});
    ++request;
  }
  return emit_table_ring(context, copies, dve_tables_load_event, *planned.dve);
}

}  // namespace neffld
