// SPDX-License-Identifier: MIT
// v2, "sunda" (Trainium 1, Inferentia 2).
//
// Two cores, each with its own 16 GiB HBM, so a logical core is always one physical core. A core's
// whole on-chip space is one 64 MiB window: SBUF at its start, PSUM, events and the engine windows
// in its upper half. Writes of one DMA queue may pass each other; order is made with the DMB flag
// of the transmit descriptor. GPSIMD libraries are staged per model. The DVE has one control table.
#include "arch_tables.hpp"
#include "neuron_abi/address_map.h"

namespace neffld {

const ArchTable arch_table_v2 = {
    .arch = Arch::v2,
    .code_name = "sunda",
    .cores_per_device = NEURON_V2_CORES,
    .default_logical_core_size = 1,
    .cores_per_hbm = 1,
    .hbm_count = NEURON_V2_HBMS,
    .hbm_size = NEURON_V2_HBM_SIZE,
    .hbm_base = {neuron_v2_hbm_base(0), neuron_v2_hbm_base(1), 0, 0},
    .tpb_base = {neuron_v2_tpb_base(0), neuron_v2_tpb_base(1), 0, 0, 0, 0, 0, 0},
    .event_unit = NEURON_V2_TPB_EVENTS,
    .engine_window = NEURON_V2_ENGINE_WINDOW,
    .sbuf_aperture = NEURON_SBUF_SIZE,
    .sbuf_partitions = 128,
    .sbuf_partition_stride = 0x4'0000,
    .sbuf_partition_bytes = 0x3'0000,
    .sbuf_reserved_offset = 0,
    .sbuf_reserved_size = 0,
    .dma_engine_base = {neuron_v2_dma_engine(0), neuron_v2_dma_engine(16), 0, 0, 0, 0, 0, 0},
    .dma_engine_stride = NEURON_V2_DMA_STRIDE,
    .instruction_alignment = 0x8000,
    .collective_trigger = neuron_v2_topsp_base(0) + 0x6'0848,
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
