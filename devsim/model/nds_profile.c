/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* One table per architecture (spec 06 sections 1, 5.3 and 7.1). */
#include "nds_internal.h"

#define V3_LAYOUT                                                                         \
  .cores = NEURON_V3_CORES, .hbm_count = NEURON_V3_HBMS,                                  \
  .hbm_base = {0, 0x4000000000ull, 0x800000000000ull, 0x804000000000ull},                 \
  .host_base = NEURON_V3_HOST_BASE, .host_mask = NEURON_V3_HOST_MASK,                     \
  .dma_engines = NEURON_V3_DMA_ENGINES, .topsps = NEURON_V3_TOPSPS, .topsps_per_core = 2, \
  .first_copy_engine = NEURON_V3_FIRST_COPY_ENGINE, .bar0_bytes = NEURON_V3_BAR0_SIZE,    \
  .compatible_min = 10, .compatible_max = 11

static const struct nds_profile profiles[] = {
    {
        .architecture = NEURON_ARCH_V2,
        .cores = NEURON_V2_CORES,
        .hbm_count = NEURON_V2_HBMS,
        .hbm_bytes = NEURON_V2_HBM_SIZE,
        .hbm_base = {0, 0x1000000000ull},
        .host_base = NEURON_V2_HOST_BASE,
        .host_mask = NEURON_V2_HOST_MASK,
        .dma_engines = NEURON_V2_DMA_ENGINES,
        .topsps = NEURON_V2_TOPSPS,
        .topsps_per_core = 3,
        .first_copy_engine = NEURON_V2_FIRST_COPY_ENGINE,
        .bar0_bytes = NEURON_V2_BAR0_SIZE,
        .compatible_min = 5,
        .compatible_max = 7,
    },
    {.architecture = NEURON_ARCH_V3, .hbm_bytes = NEURON_V3_HBM_SIZE, V3_LAYOUT},
    /* Version 4 is version 3 with larger HBMs (06 12.14). */
    {.architecture = NEURON_ARCH_V4, .hbm_bytes = NEURON_V4_HBM_SIZE, V3_LAYOUT},
};

const struct nds_profile* nds_profile_of(uint32_t architecture) {
  size_t index;

  for (index = 0; index < sizeof profiles / sizeof profiles[0]; index++)
    if (profiles[index].architecture == architecture) return &profiles[index];
  return NULL;
}
