// SPDX-License-Identifier: MIT
// v2, "sunda" (Trainium 1, Inferentia 2).
//
// Two cores, each with its own 16 GiB HBM, so a logical core is always one physical core. A core's
// whole on-chip space is one 64 MiB window: SBUF at its start, PSUM, events and the engine windows
// in its upper half. Writes of one DMA queue may pass each other; order is made with the DMB flag
// of the transmit descriptor. GPSIMD libraries are staged per model. The DVE has one control table.
#include "arch_tables.hpp"

namespace neffld {

const ArchTable arch_table_v2 = {
    .arch = Arch::v2,
    .code_name = "sunda",
    .cores_per_device = 2,
    .default_logical_core_size = 1,
    .cores_per_hbm = 1,
    .hbm_count = 2,
    .hbm_size = 0x4'0000'0000,
    .hbm_base = {0x0, 0x10'0000'0000, 0, 0},
    .tpb_base = {0xFFF'C000'0000, 0xFFF'C400'0000, 0, 0, 0, 0, 0, 0},
    .event_unit = 0x270'0000,
    .engine_window = 0,
    .sbuf_aperture = 0x200'0000,
    .sbuf_partitions = 128,
    .sbuf_partition_stride = 0x4'0000,
    .sbuf_partition_bytes = 0x3'0000,
    .sbuf_reserved_offset = 0,
    .sbuf_reserved_size = 0,
    .dma_engine_base = {0xFFF'F000'0000, 0xFFF'F070'0000, 0, 0, 0, 0, 0, 0},
    .dma_engine_stride = 0x4'0000,
    .instruction_alignment = 0x8000,
    .dve_opcode = {0x2B8'6000, 0x800},
    .dve_control_fast = {0x2B8'0000, 0x800},
    .dve_control_slow = {0, 0},
    .dve_datapath = {0x2B8'2000, 0x2000},
    .dve_param_ram = {0x2B8'7000, 0x400},
    .caps = {.strong_order_writes = false,
             .split_control_tables = false,
             .needs_sbuf_reservation = false,
             .ucode_libraries = true,
             .staging = true},
};

}  // namespace neffld
