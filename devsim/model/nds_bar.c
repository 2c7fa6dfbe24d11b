/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What is behind an offset of the register BAR (spec 06 section 7.2). Core memories, event units
 * and DMA engines are what they are in the device's own view; all other registers remember what was
 * written.
 */
#include "nds_internal.h"

uint64_t nds_bar_misc_ram(const struct nds_device* device) {
  return nds_is_v2(device) ? NEURON_V2_BAR0_MISC_RAM : NEURON_V3_BAR0_MISC_RAM;
}

uint64_t nds_bar_core(const struct nds_device* device, uint32_t core) {
  return (nds_is_v2(device) ? NEURON_V2_BAR0_TPB : NEURON_V3_BAR0_TPB) +
         core * NEURON_BAR0_TPB_STRIDE;
}

uint64_t nds_bar_topsp(const struct nds_device* device, uint32_t topsp) {
  return nds_is_v2(device) ? neuron_v2_bar0_topsp(topsp) : neuron_v3_bar0_topsp(topsp);
}

uint64_t nds_bar_core_notific(const struct nds_device* device, uint32_t core) {
  return nds_is_v2(device) ? neuron_v2_bar0_core_notific(core) : neuron_v3_bar0_core_notific(core);
}

uint64_t nds_bar_dma_engine(const struct nds_device* device, uint32_t engine) {
  return nds_is_v2(device) ? neuron_v2_bar0_dma_engine(engine) : neuron_v3_bar0_dma_engine(engine);
}

uint32_t nds_bar_engine_at(const struct nds_device* device, uint64_t offset, uint32_t* reg) {
  uint32_t engine;

  for (engine = 0; engine < device->profile->dma_engines; engine++) {
    uint64_t base = nds_bar_dma_engine(device, engine);

    if (offset < base || offset - base >= NEURON_DMA_ENGINE_SIZE) continue;
    *reg = (uint32_t)(offset - base);
    break;
  }
  return engine;
}

/* The device address behind a BAR offset of a core's or TOPSP's window, or all ones. */
static uint64_t memory_behind(const struct nds_device* device, uint64_t offset) {
  uint64_t upper = nds_is_v2(device) ? NEURON_V2_TPB_UPPER : NEURON_V3_TPB_UPPER;
  uint32_t index;

  for (index = 0; index < device->profile->cores; index++) {
    uint64_t base = nds_bar_core(device, index);

    if (offset < base || offset - base >= NEURON_BAR0_TPB_STRIDE) continue;
    offset -= base;
    if (offset >= NEURON_BAR0_TPB_UPPER) offset += upper - NEURON_BAR0_TPB_UPPER;
    return nds_tpb_base(device, index) + offset;
  }
  for (index = 0; index < device->profile->topsps; index++) {
    uint64_t base = nds_bar_topsp(device, index);

    if (offset >= base && offset - base < NEURON_TOPSP_SIZE)
      return nds_topsp_window(device, index)->base + (offset - base);
  }
  return ~0ull;
}

int nds_bar_read_register(struct nds_device* device, uint64_t offset, uint32_t* value) {
  uint32_t reg = 0;
  uint32_t engine = nds_bar_engine_at(device, offset, &reg);
  uint64_t pa = memory_behind(device, offset);

  if (engine < device->profile->dma_engines) {
    *value = nds_dma_register_read(device, engine, reg);
    return 0;
  }
  if (pa != ~0ull) return nds_bus_read(device, pa, value, sizeof *value);
  return nds_os_space_read(device->bar0_space, offset, value, sizeof *value);
}

int nds_bar_write_register(struct nds_device* device, uint64_t offset, uint32_t value) {
  uint32_t reg = 0;
  uint32_t engine = nds_bar_engine_at(device, offset, &reg);
  uint64_t pa = memory_behind(device, offset);

  if (engine < device->profile->dma_engines) {
    nds_dma_register_write(device, engine, reg, value);
    return 0;
  }
  if (pa != ~0ull) return nds_bus_write(device, pa, &value, sizeof value);
  return nds_os_space_write(device->bar0_space, offset, &value, sizeof value);
}
