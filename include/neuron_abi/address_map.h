/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Where things are. Two views exist: the device view (physical addresses in DMA descriptors and
 * instructions) and the BAR0 view (byte offsets in the register BAR, as the host sees registers).
 * Sources: spec 03 section 7, spec 04 section 7, spec 06 sections 5.3, 6 and 7, decision 1.
 *
 * NEURON_V4_* names exist only where version 4 differs from version 3 (spec 06 section 12.14).
 */
#ifndef NEURON_ABI_ADDRESS_MAP_H
#define NEURON_ABI_ADDRESS_MAP_H

#include "neuron_abi/types.h"

#define NEURON_ARCH_V2 2u
#define NEURON_ARCH_V3 3u
#define NEURON_ARCH_V4 4u

/* Counts */
#define NEURON_V2_CORES 2u
#define NEURON_V3_CORES 8u
#define NEURON_V2_HBMS 2u
#define NEURON_V3_HBMS 4u
#define NEURON_V2_DMA_ENGINES 34u
#define NEURON_V3_DMA_ENGINES 132u
#define NEURON_V2_TOPSPS 6u
#define NEURON_V3_TOPSPS 16u
#define NEURON_DMA_ENGINES_PER_CORE 16u

/* HBM, device view. Each begins with the firmware carve-out and ends with the small pool. */
#define NEURON_V2_HBM_SIZE 0x400000000ull
#define NEURON_V3_HBM_SIZE 0x600000000ull
#define NEURON_V4_HBM_SIZE 0x900000000ull
#define NEURON_HBM_CARVEOUT_SIZE 0x1000000ull
#define NEURON_HBM_SMALL_POOL_SIZE 0x40000000ull
#define NEURON_SMALL_ALLOC_MAX 0x80000ull

static inline uint64_t neuron_v2_hbm_base(uint32_t hbm) {
  return (uint64_t)hbm * 0x1000000000ull;
}

static inline uint64_t neuron_v3_hbm_base(uint32_t hbm) {
  return ((uint64_t)(hbm >> 1) << 47) | ((uint64_t)(hbm & 1u) << 38);
}

/* HBM in the memory BAR (BAR4 view). */
static inline uint64_t neuron_v2_hbm_bar4(uint32_t hbm) {
  return (uint64_t)hbm * NEURON_V2_HBM_SIZE;
}

static inline uint64_t neuron_v3_hbm_bar4(uint32_t hbm) {
  return (uint64_t)hbm * 0x1000000000ull;
}

/* Host memory in descriptors: bus address | host base. */
#define NEURON_V2_HOST_BASE 0x100000000000ull
#define NEURON_V2_HOST_MASK 0x1F00000000000ull
#define NEURON_V3_HOST_BASE 0x400000000000ull
#define NEURON_V3_HOST_MASK 0x400000000000ull

/* Cores (TPB), device view: SBUF first, then the upper block with PSUM, events, sequencers. */
#define NEURON_V2_TPB_BASE 0xFFFC0000000ull
#define NEURON_V2_TPB_STRIDE 0x4000000ull
#define NEURON_V2_TPB_SIZE 0x4000000ull
#define NEURON_V3_TPB_SIZE 0x804000000ull
#define NEURON_V2_TPB_UPPER 0x2000000ull
#define NEURON_V3_TPB_UPPER 0x802000000ull
#define NEURON_V2_TPB_EVENTS 0x2700000ull
#define NEURON_V3_TPB_EVENTS 0x802700000ull
#define NEURON_V2_ENGINE_WINDOW 0x0ull /* engine-local offset o is at core + window + o */
#define NEURON_V3_ENGINE_WINDOW 0x800000000ull
/* Engine-local places of the activation tables; each ends where the next begins (spec 03 7.3). */
#define NEURON_ACT_BUCKETS 0x2500000ull
#define NEURON_ACT_CONTROLS 0x2520000ull
#define NEURON_ACT_PROFILES 0x2540000ull
#define NEURON_ACT_DIRECTORY 0x2580000ull
#define NEURON_ACT_END 0x2600000ull
#define NEURON_SBUF_SIZE 0x2000000ull
#define NEURON_PSUM_SIZE 0x400000ull /* at the start of the upper block */

static inline uint64_t neuron_v2_tpb_base(uint32_t core) {
  return NEURON_V2_TPB_BASE + (uint64_t)core * NEURON_V2_TPB_STRIDE;
}

static inline uint64_t neuron_v3_tpb_base(uint32_t core) {
  return ((uint64_t)(core >> 2) << 47) | ((uint64_t)((core >> 1) & 1u) << 38) |
         ((uint64_t)(2u + (core & 1u)) << 36);
}

/* The event unit: offsets from TPB base + *_TPB_EVENTS; four bytes an entry. */
#define NEURON_EVENT_UNIT_SIZE 0x2000ull
#define NEURON_EVENT_UNIT_EVENTS 0x0ull
#define NEURON_EVENT_UNIT_SEM_READ 0x1000ull
#define NEURON_EVENT_UNIT_SEM_SET 0x1400ull
#define NEURON_EVENT_UNIT_SEM_INCREMENT 0x1800ull
#define NEURON_EVENT_UNIT_SEM_DECREMENT 0x1C00ull
#define NEURON_EVENT_UNIT_ENTRY_SIZE 4u
#define NEURON_EVENT_UNIT_WINDOW_SIZE 0x400ull

static inline uint64_t neuron_event_offset(uint32_t event) {
  return NEURON_EVENT_UNIT_EVENTS + event * (uint64_t)NEURON_EVENT_UNIT_ENTRY_SIZE;
}

/* `window`: NEURON_EVENT_UNIT_SEM_... */
static inline uint64_t neuron_semaphore_offset(uint64_t window, uint32_t semaphore) {
  return window + semaphore * (uint64_t)NEURON_EVENT_UNIT_ENTRY_SIZE;
}

/* Constants a DMA may read: all-zero and all-one word of the event accelerator. */
#define NEURON_V2_EVENT_ACCEL_CLEAR 0x2000000000ull
#define NEURON_V2_EVENT_ACCEL_SET 0x2000000004ull
#define NEURON_V3_EVENT_ACCEL_CLEAR 0x9000000000ull
#define NEURON_V3_EVENT_ACCEL_SET 0x9000000004ull
#define NEURON_V4_EVENT_ACCEL_SET 0x9400000000ull

/* Cores, BAR0 view: 64 MiB a core; offset 0x2000000 of it is the upper block. */
#define NEURON_V2_BAR0_TPB 0x0ull
#define NEURON_V3_BAR0_TPB 0xD0000000ull
#define NEURON_BAR0_TPB_STRIDE 0x4000000ull
#define NEURON_BAR0_TPB_UPPER 0x2000000ull
#define NEURON_BAR0_TPB_EVENTS 0x2700000ull

/* TOPSPs */
#define NEURON_TOPSP_SIZE 0x400000ull
#define NEURON_V3_TOPSP_WINDOWS 20u /* PROGRAM_ENGINE accepts more than exist */
#define NEURON_V3_TOPSP_STRIDE 0x40000000ull

static inline uint64_t neuron_v2_topsp_base(uint32_t topsp) {
  return 0xFFFD0000000ull + (uint64_t)topsp * 0x400000ull;
}

static inline uint64_t neuron_v3_topsp_base(uint32_t topsp) {
  return ((uint64_t)(topsp >> 3) << 47) + 0x8280000000ull + (uint64_t)(topsp & 7u) * 0x40000000ull;
}

static inline uint64_t neuron_v2_bar0_topsp(uint32_t topsp) {
  return 0x10000000ull + (uint64_t)topsp * 0x400000ull;
}

static inline uint64_t neuron_v3_bar0_topsp(uint32_t topsp) {
  return (topsp < 8u ? 0xF0000000ull : 0xF2800000ull) + (uint64_t)(topsp & 7u) * 0x400000ull;
}

/* Notific blocks (registers of notification queues), BAR0 view. */
static inline uint64_t neuron_v2_bar0_core_notific(uint32_t core) {
  return core ? 0x30C35000ull : 0x30535000ull;
}

static inline uint64_t neuron_v3_bar0_core_notific(uint32_t core) {
  static const uint64_t of_die[4] = {0x6001000ull, 0x6181000ull, 0x6401000ull, 0x6581000ull};

  return of_die[core % 4u] + (uint64_t)(core / 4u) * 0x40000000ull;
}

static inline uint64_t neuron_v2_bar0_topsp_notific(uint32_t topsp) {
  return 0x30E04000ull + (uint64_t)topsp * 0x40000ull;
}

static inline uint64_t neuron_v3_bar0_topsp_notific(uint32_t topsp) {
  return 0x6A00000ull + (uint64_t)(topsp % 8u) * 0x40000ull +
         (uint64_t)(topsp / 8u) * 0x40000000ull;
}

/* Windows of V3 that only PROGRAM_ENGINE knows (pre-processing units). */
#define NEURON_V3_PREPROC_SIZE 0x34C0000ull
static inline uint64_t neuron_v3_preproc_base(uint32_t seng) {
  return neuron_v3_hbm_base(seng) + 0x1200000000ull;
}

/*
 * DMA engines. Engine id = 16 * core + k for the cores' engines; the last ones (V2 32, 33; V3
 * 128..131) belong to the driver's own copies. NEURON_DMA_ENGINE_SIZE covers the registers.
 */
#define NEURON_DMA_ENGINE_SIZE 0x40000ull
#define NEURON_V2_DMA_STRIDE 0x40000ull
#define NEURON_V3_DMA_STRIDE 0x100000ull
#define NEURON_V2_FIRST_COPY_ENGINE 32u
#define NEURON_V3_FIRST_COPY_ENGINE 128u

/* Device view minus BAR0 view of everything V2 has in its APB window. */
#define NEURON_V2_APB_BASE 0xFFFC0000000ull

/* Offset of an engine in the register BAR. `engine` must exist. */
static inline uint64_t neuron_v2_bar0_dma_engine(uint32_t engine) {
  if (engine < 16u) return 0x30000000ull + (uint64_t)engine * NEURON_V2_DMA_STRIDE;
  if (engine < 32u) return 0x30700000ull + (uint64_t)(engine - 16u) * NEURON_V2_DMA_STRIDE;
  return engine == 32u ? 0x30600000ull : 0x30D00000ull;
}

static inline uint64_t neuron_v3_bar0_dma_engine(uint32_t engine) {
  static const uint64_t group[4] = {0x82000000ull, 0x94000000ull, 0xA2000000ull, 0xB4000000ull};
  static const uint64_t copy[4] = {0x6800000ull, 0x6900000ull, 0x46800000ull, 0x46900000ull};

  if (engine < NEURON_V3_FIRST_COPY_ENGINE)
    return group[engine / 32u] + (uint64_t)(engine % 32u) * NEURON_V3_DMA_STRIDE;
  return copy[engine - NEURON_V3_FIRST_COPY_ENGINE];
}

/* Device address of an engine (DMA descriptors and instruction streams ring doorbells here). */
static inline uint64_t neuron_v2_dma_engine(uint32_t engine) {
  return NEURON_V2_APB_BASE + neuron_v2_bar0_dma_engine(engine);
}

/* Only engines below NEURON_V3_FIRST_COPY_ENGINE have a known device address on V3. */
static inline uint64_t neuron_v3_dma_engine(uint32_t engine) {
  static const uint64_t seng[4] = {0x1002000000ull, 0x5004000000ull, 0x801002000000ull,
                                   0x805004000000ull};

  return seng[engine / 32u] + (uint64_t)(engine % 32u) * NEURON_V3_DMA_STRIDE;
}

/* Firmware mailbox and the size of the register BAR. */
#define NEURON_V2_BAR0_MISC_RAM 0x30FA0000ull
#define NEURON_V3_BAR0_MISC_RAM 0x6C84000ull
#define NEURON_V2_BAR0_SIZE 0x40000000ull
#define NEURON_V3_BAR0_SIZE 0x100000000ull

#endif
