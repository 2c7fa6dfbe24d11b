// SPDX-License-Identifier: MIT
// v3, "cayman" (Trainium 2), and v4, "mariana" (Trainium 3), which shares its address map.
//
// Eight cores on two dies; two neighbouring cores share one HBM and form a logical core. A core's
// space is split: SBUF at T, everything else (PSUM, events, engine windows) 0x8_0000_0000 above
// (decision 1). DMA writes can be ordered by a flag of the receive descriptor. The last eight bytes
// of every SBUF partition belong to the runtime (the event-accelerator reservation). The DVE has a
// fast and a slow control table.
#include "arch_tables.hpp"
#include "neuron_abi/address_map.h"

namespace neffld {
namespace {

template <class Function>
std::array<std::uint64_t, NEURON_V3_CORES> for_each_core(Function address_of) {
  std::array<std::uint64_t, NEURON_V3_CORES> addresses{};
  for (std::uint32_t core = 0; core < addresses.size(); ++core) addresses[core] = address_of(core);
  return addresses;
}

}  // namespace

const ArchTable arch_table_v3 = {
    .arch = Arch::v3,
    .code_name = "cayman",
    .cores_per_device = NEURON_V3_CORES,
    .default_logical_core_size = 2,
    .cores_per_hbm = 2,
    .hbm_count = NEURON_V3_HBMS,
    .hbm_size = NEURON_V3_HBM_SIZE,
    .hbm_base = {neuron_v3_hbm_base(0), neuron_v3_hbm_base(1), neuron_v3_hbm_base(2),
                 neuron_v3_hbm_base(3)},
    .tpb_base = for_each_core(neuron_v3_tpb_base),
    .event_unit = NEURON_V3_TPB_EVENTS,
    .engine_window = NEURON_V3_ENGINE_WINDOW,
    .sbuf_aperture = NEURON_SBUF_SIZE,
    .sbuf_partitions = 128,
    .sbuf_partition_stride = 0x4'0000,
    .sbuf_partition_bytes = 0x3'8000,
    .sbuf_reserved_offset = 0x3'7FF8,
    .sbuf_reserved_size = 8,
    .dma_engine_base = for_each_core([](std::uint32_t core) {
      return neuron_v3_dma_engine(NEURON_DMA_ENGINES_PER_CORE * core);
    }),
    .dma_engine_stride = NEURON_V3_DMA_STRIDE,
    .instruction_alignment = 0x8000,
    .collective_trigger = neuron_v3_topsp_base(0) + 0x6'15A0,
    .dve_opcode = {0x2B8'6000, 0x400},
    .dve_control_fast = {0x2B8'0000, 0x1000},
    .dve_control_slow = {0x2B8'1000, 0x1000},
    .dve_datapath = {0x2B8'2000, 0x4000},
    .dve_param_ram = {0x2B8'7000, 0x400},
    .caps = {.strong_order_writes = true,
             .split_control_tables = true,
             .needs_sbuf_reservation = true,
             .ucode_libraries = false,
             .staging = true},
};

// Parse, build and plan work for v4; nothing real exists to check staging against (decision 42).
const ArchTable arch_table_v4 = [] {
  ArchTable table = arch_table_v3;
  table.arch = Arch::v4;
  table.code_name = "mariana";
  table.hbm_size = NEURON_V4_HBM_SIZE;
  table.sbuf_partition_bytes = 0x4'0000;
  table.sbuf_reserved_offset = 0;
  table.sbuf_reserved_size = 0;
  table.dve_opcode.offset = 0x2B7'F000;
  table.dve_control_fast.offset = 0x2B7'9000;
  table.dve_control_slow.offset = 0x2B7'A000;
  table.dve_datapath.offset = 0x2B7'B000;
  table.dve_param_ram.offset = 0x2B8'0000;
  table.caps.needs_sbuf_reservation = false;
  table.caps.staging = false;
  return table;
}();

}  // namespace neffld
