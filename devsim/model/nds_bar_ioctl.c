/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Commands that reach the register BAR (spec 06 section 4.2), and those its firmware answers. */
#include "nds_firmware.h"
#include "nds_internal.h"

/* Opaque to the client, which only adds register offsets (06 12.7). */
uint64_t nds_bar0_address(const struct nds_device* device) {
  return 0x100000000ull * (device->config.device_index + 1ull);
}

static bool is_protected(const struct nds_device* device, uint64_t offset) {
  uint64_t inside = offset - nds_bar_misc_ram(device);
  uint32_t reg = 0;

  if (inside == NDS_MISC_RAM_TRIGGER) return true;
  if (inside >= NDS_MISC_RAM_MAILBOX && inside < NDS_MISC_RAM_MAILBOX_END) return true;
  return nds_bar_engine_at(device, offset, &reg) < device->profile->dma_engines &&
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
    if (!result) result = nds_bar_read_register(device, offset, &data[index]);
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
    if (!result) result = nds_bar_write_register(call->device, offset, data[index]);
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
      result = nds_bar_read_register(call->device, address[index], &data[index]);
  nds_dma_unlock(call->device);
  if (result) return result;
  return nds_put_at(call, argument.data_ptr, data, argument.count * sizeof data[0]);
}

long nds_post_metric(struct nds_call* call) {
  struct neuron_post_metric argument;
  uint8_t words[NDS_MISC_RAM_METRICS_BYTES] = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.data_size > sizeof words) return -E2BIG;
  result = nds_fault(call, nds_os_from_user(words, argument.data_ptr, argument.data_size));
  if (result) return result;
  if (nds_is_silent(call->device, NDS_SILENT_MAILBOX)) return -EPERM;
  return nds_os_space_write(call->device->bar0_space,
                            nds_bar_misc_ram(call->device) + NDS_MISC_RAM_METRICS, words,
                            sizeof words);
}
