// SPDX-License-Identifier: MIT
// v3, "cayman" (Trainium 2), and v4, "mariana" (Trainium 3), which shares its address map.
//
// Eight cores on two dies; two neighbouring cores share one HBM and form a logical core. A core's
// space is split: SBUF at T, everything else (PSUM, events, engine windows) 0x8_0000_0000 above
// (decision 1). DMA writes can be ordered by a flag of the receive descriptor. The last eight bytes
// of every SBUF partition belong to the runtime (the event-accelerator reservation). The DVE has a
// fast and a slow control table.
#include "arch_tables.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t die1 = 0x8000'0000'0000;

constexpr std::array<std::uint64_t, 8> tpb_bases = {
    0x20'0000'0000,        0x30'0000'0000,        0x60'0000'0000,        0x70'0000'0000,
    die1 + 0x20'0000'0000, die1 + 0x30'0000'0000, die1 + 0x60'0000'0000, die1 + 0x70'0000'0000};

// DMA engines of a core pair lie in one block of 32; the odd core has the upper 16 (spec 04 s7.1).
constexpr std::uint64_t pair_stride = 16 * 0x10'0000;
constexpr std::array<std::uint64_t, 8> dma_bases = {
    0x10'0200'0000,        0x10'0200'0000 + pair_stride,
    0x50'0400'0000,        0x50'0400'0000 + pair_stride,
    die1 + 0x10'0200'0000, die1 + 0x10'0200'0000 + pair_stride,
    die1 + 0x50'0400'0000, die1 + 0x50'0400'0000 + pair_stride};

}  // namespace

const ArchTable arch_table_v3 = {
    .arch = Arch::v3,
    .code_name = "cayman",
    .cores_per_device = 8,
    .default_logical_core_size = 2,
    .cores_per_hbm = 2,
    .hbm_count = 4,
    .hbm_size = 0x6'0000'0000,
    .hbm_base = {0x0, 0x40'0000'0000, die1, die1 + 0x40'0000'0000},
    .tpb_base = tpb_bases,
    .event_unit = 0x8'0270'0000,
    .engine_window = 0x8'0000'0000,
    .sbuf_aperture = 0x200'0000,
    .sbuf_partitions = 128,
    .sbuf_partition_stride = 0x4'0000,
    .sbuf_partition_bytes = 0x3'8000,
    .sbuf_reserved_offset = 0x3'7FF8,
    .sbuf_reserved_size = 8,
    .dma_engine_base = dma_bases,
    .dma_engine_stride = 0x10'0000,
    .instruction_alignment = 0x8000,
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
  table.hbm_size = 0x9'0000'0000;
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
