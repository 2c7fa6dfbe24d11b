/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The register BAR as the host sees it (spec 06 sections 4.2 and 7.2). Registers remember what was
 * written; core memories, event units and DMA engines are what they are in the device's own view.
 */
#include "nds_internal.h"

#define MISC_RAM_MAILBOX 0x1F0u
#define MISC_RAM_MAILBOX_END 0x200u
#define MISC_RAM_TRIGGER 0x800u
#define MISC_RAM_METRICS 0x100u
#define MISC_RAM_METRICS_BYTES 128u

/* Opaque to the client, which only adds register offsets (06 12.7). */
uint64_t nds_bar0_address(const struct nds_device* device) {
  return 0x100000000ull * (device->config.device_index + 1ull);
}

static bool is_v2(const struct nds_device* device) {
  return device->profile->architecture == NEURON_ARCH_V2;
}

static uint64_t misc_ram(const struct nds_device* device) {
  return is_v2(device) ? NEURON_V2_BAR0_MISC_RAM : NEURON_V3_BAR0_MISC_RAM;
}

/* The engine whose registers hold a BAR offset, or the number of engines. */
static uint32_t engine_at(const struct nds_device* device, uint64_t offset, uint32_t* reg) {
  uint32_t engine;

  for (engine = 0; engine < device->profile->dma_engines; engine++) {
    uint64_t base =
        is_v2(device) ? neuron_v2_bar0_dma_engine(engine) : neuron_v3_bar0_dma_engine(engine);

    if (offset < base || offset - base >= NEURON_DMA_ENGINE_SIZE) continue;
    *reg = (uint32_t)(offset - base);
    break;
  }
  return engine;
}

/* The device address behind a BAR offset of a core's or TOPSP's window, or all ones. */
static uint64_t memory_behind(const struct nds_device* device, uint64_t offset) {
  uint64_t cores = is_v2(device) ? NEURON_V2_BAR0_TPB : NEURON_V3_BAR0_TPB;
  uint64_t upper = is_v2(device) ? NEURON_V2_TPB_UPPER : NEURON_V3_TPB_UPPER;
  uint32_t index;

  for (index = 0; index < device->profile->cores; index++) {
    uint64_t base = cores + index * NEURON_BAR0_TPB_STRIDE;

    if (offset < base || offset - base >= NEURON_BAR0_TPB_STRIDE) continue;
    offset -= base;
    if (offset >= NEURON_BAR0_TPB_UPPER) offset += upper - NEURON_BAR0_TPB_UPPER;
    return nds_tpb_base(device, index) + offset;
  }
  for (index = 0; index < device->profile->topsps; index++) {
    uint64_t base = is_v2(device) ? neuron_v2_bar0_topsp(index) : neuron_v3_bar0_topsp(index);

    if (offset >= base && offset - base < NEURON_TOPSP_SIZE)
      return nds_topsp_window(device, index)->base + (offset - base);
  }
  return ~0ull;
}

/* Both need the DMA lock. */
static int read_register(struct nds_device* device, uint64_t offset, uint32_t* value) {
  uint32_t reg = 0;
  uint32_t engine = engine_at(device, offset, &reg);
  uint64_t pa = memory_behind(device, offset);

  if (engine < device->profile->dma_engines) {
    *value = nds_dma_register_read(device, engine, reg);
    return 0;
  }
  if (pa != ~0ull) return nds_bus_read(device, pa, value, sizeof *value);
  return nds_os_space_read(device->bar0_space, offset, value, sizeof *value);
}

static int write_register(struct nds_device* device, uint64_t offset, uint32_t value) {
  uint32_t reg = 0;
  uint32_t engine = engine_at(device, offset, &reg);
  uint64_t pa = memory_behind(device, offset);

  if (engine < device->profile->dma_engines) {
    nds_dma_register_write(device, engine, reg, value);
    return 0;
  }
  if (pa != ~0ull) return nds_bus_write(device, pa, &value, sizeof value);
  return nds_os_space_write(device->bar0_space, offset, &value, sizeof value);
}

static bool is_protected(const struct nds_device* device, uint64_t offset) {
  uint64_t inside = offset - misc_ram(device);
  uint32_t reg = 0;

  if (inside == MISC_RAM_TRIGGER) return true;
  if (inside >= MISC_RAM_MAILBOX && inside < MISC_RAM_MAILBOX_END) return true;
  return engine_at(device, offset, &reg) < device->profile->dma_engines &&
         nds_dma_register_is_protected(reg);
}

/* An address of the array as an offset of the BAR: 0 or -EINVAL. */
static int bar_offset(const struct nds_device* device, uint64_t address, uint64_t* offset) {
  uint64_t base = nds_bar0_address(device);

  if (address < base || address % 4) return -EINVAL;
  *offset = address - base;
  return device->profile->bar0_bytes - 4 >= *offset ? 0 : -EINVAL;
}

static long read_words(struct nds_call* call, const uint64_t* address, uint32_t count, bool run,
                       uint32_t* data) {
  struct nds_device* device = call->device;
  uint32_t index;
  long result = 0;

  nds_dma_lock(device);
  for (index = 0; !result && index < count; index++) {
    uint64_t offset = 0;

    result = bar_offset(device, run ? address[0] + 4ull * index : address[index], &offset);
    if (!result) result = read_register(device, offset, &data[index]);
  }
  nds_dma_unlock(device);
  return result;
}

/*
 * The real driver reads any kernel address (11 B.4); here only the BAR exists. Bar 2 takes one
 * address for a run of words.
 */
long nds_bar_read(struct nds_call* call) {
  uint64_t address[NEURON_MAX_BAR_RW_COUNT];
  uint32_t data[NEURON_MAX_BAR_RW_COUNT];
  struct neuron_bar_rw argument;
  size_t addresses;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.bar != 0 && argument.bar != 2) return -EINVAL;
  if (argument.count > NEURON_MAX_BAR_RW_COUNT) return -EINVAL;
  addresses = argument.bar ? 1 : argument.count;
  result = nds_fault(
      call, nds_os_from_user(address, argument.address_ptr, addresses * sizeof address[0]));
  if (!result) result = read_words(call, address, argument.count, argument.bar != 0, data);
  if (result) return result;
  return nds_put_at(call, argument.data_ptr, data, argument.count * sizeof data[0]);
}

long nds_bar_write(struct nds_call* call) {
  uint64_t address[NEURON_MAX_BAR_RW_COUNT];
  uint32_t data[NEURON_MAX_BAR_RW_COUNT];
  struct neuron_bar_rw argument;
  uint32_t index;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.bar != 0 || argument.count > NEURON_MAX_BAR_RW_COUNT) return -EINVAL;
  result = nds_fault(
      call, nds_os_from_user(address, argument.address_ptr, argument.count * sizeof address[0]));
  if (!result)
    result =
        nds_fault(call, nds_os_from_user(data, argument.data_ptr, argument.count * sizeof data[0]));
  nds_dma_lock(call->device);
  for (index = 0; !result && index < argument.count; index++) {
    uint64_t offset = 0;

    result = bar_offset(call->device, address[index], &offset);
    if (!result && is_protected(call->device, offset)) result = -EINVAL;
    if (!result) result = write_register(call->device, offset, data[index]);
  }
  nds_dma_unlock(call->device);
  return result;
}

/* The firmware answers with the registers it is asked for; the addresses are BAR offsets. */
long nds_read_hw_counters(struct nds_call* call) {
  struct neuron_read_hw_counters argument;
  uint64_t address[NEURON_MAX_BAR_RW_COUNT];
  uint32_t data[NEURON_MAX_BAR_RW_COUNT] = {0};
  uint32_t index;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.count > NEURON_MAX_BAR_RW_COUNT) return -EINVAL;
  result = nds_fault(
      call, nds_os_from_user(address, argument.address_ptr, argument.count * sizeof address[0]));
  if (result) return result;
  if (nds_is_silent(call->device, NDS_SILENT_MAILBOX)) return -EPERM;
  nds_dma_lock(call->device);
  for (index = 0; !result && index < argument.count; index++)
    if (address[index] % 4 == 0 && address[index] < call->device->profile->bar0_bytes)
      result = read_register(call->device, address[index], &data[index]);
  nds_dma_unlock(call->device);
  if (result) return result;
  return nds_put_at(call, argument.data_ptr, data, argument.count * sizeof data[0]);
}

long nds_post_metric(struct nds_call* call) {
  struct neuron_post_metric argument;
  uint8_t words[MISC_RAM_METRICS_BYTES] = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.data_size > sizeof words) return -E2BIG;
  result = nds_fault(call, nds_os_from_user(words, argument.data_ptr, argument.data_size));
  if (result) return result;
  if (nds_is_silent(call->device, NDS_SILENT_MAILBOX)) return -EPERM;
  return nds_os_space_write(call->device->bar0_space, misc_ram(call->device) + MISC_RAM_METRICS,
                            words, sizeof words);
}
