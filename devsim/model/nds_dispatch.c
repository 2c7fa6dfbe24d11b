/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * From a command value to its handler (spec 06 sections 2 and 3). Commands are compared as full
 * 32-bit values; a few numbers are selected by number alone, and then their handler decides.
 */
#include "nds_internal.h"

enum {
  GATED = 1,     /* the caller's process must be attached, else -EACCES */
  MISC = 2,      /* also on free-access files */
  BY_NUMBER = 4, /* every command with this number, whatever size, direction and type */
};

struct command {
  uint32_t value;
  uint32_t flags;
  enum nds_generation since;
  nds_handler handler;
};

static const struct command commands[] = {
    /* identity */
    {NEURON_IOCTL_DEVICE_INFO, 0, NDS_GENERATION_2_24, nds_device_info},
    {NEURON_IOCTL_COMPATIBLE_VERSION, MISC, NDS_GENERATION_2_24, nds_compatible_version},
    {NEURON_IOCTL_DEVICE_BASIC_INFO, MISC, NDS_GENERATION_2_24, nds_device_basic_info},
    {NEURON_IOCTL_DRIVER_INFO_SET, GATED | MISC, NDS_GENERATION_2_24, nds_driver_info},
    {NEURON_IOCTL_DRIVER_INFO_GET, MISC | BY_NUMBER, NDS_GENERATION_2_24, nds_driver_info},
    /* core ranges */
    {NEURON_IOCTL_CRWL_NC_RANGE_MARK, MISC, NDS_GENERATION_2_24, nds_range_mark},
    {NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, MISC, NDS_GENERATION_2_24, nds_range_mark},
    {NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, MISC, NDS_GENERATION_2_24, nds_range_unmark},
    {NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, MISC, NDS_GENERATION_2_24, nds_range_unmark},
    /* memory */
    {NEURON_IOCTL_MEM_ALLOC, GATED, NDS_GENERATION_2_24, nds_mem_alloc},
    {NEURON_IOCTL_MEM_ALLOC_V2, 0, NDS_GENERATION_2_24, nds_mem_alloc_v2},
    {NEURON_IOCTL_MEM_ALLOC_V2MT, 0, NDS_GENERATION_2_24, nds_mem_alloc_v2mt},
    {NEURON_IOCTL_MEM_ALLOC_V2MT64, 0, NDS_GENERATION_2_24, nds_mem_alloc_v2mt64},
    {NEURON_IOCTL_MEM_ALLOC_V2MT64_PA, 0, NDS_GENERATION_2_30, nds_mem_alloc_v2mt64},
    {NEURON_IOCTL_MEM_FREE, GATED, NDS_GENERATION_2_24, nds_mem_free},
    {NEURON_IOCTL_MEM_GET_PA, GATED, NDS_GENERATION_2_24, nds_mem_get_pa},
    {NEURON_IOCTL_MEM_GET_INFO, GATED, NDS_GENERATION_2_24, nds_mem_get_info},
    {NEURON_IOCTL_MEM_GET_EXTENDED_INFO, 0, NDS_GENERATION_2_24, nds_mem_get_extended_info},
    {NEURON_IOCTL_MEM_MC_GET_INFO, BY_NUMBER, NDS_GENERATION_2_24, nds_mem_mc_get_info},
    /* copies */
    {NEURON_IOCTL_MEM_BUF_COPY, 0, NDS_GENERATION_2_24, nds_mem_buf_copy},
    {NEURON_IOCTL_MEM_BUF_COPY64, 0, NDS_GENERATION_2_24, nds_mem_buf_copy64},
    {NEURON_IOCTL_MEM_BUF_ZEROCOPY64, BY_NUMBER, NDS_GENERATION_2_24, nds_mem_buf_zerocopy64},
    {NEURON_IOCTL_MEM_COPY, GATED, NDS_GENERATION_2_24, nds_mem_copy},
    {NEURON_IOCTL_MEM_COPY64, 0, NDS_GENERATION_2_24, nds_mem_copy64},
    {NEURON_IOCTL_MEMSET, 0, NDS_GENERATION_2_24, nds_memset},
    {NEURON_IOCTL_MEMSET64, 0, NDS_GENERATION_2_24, nds_memset64},
    /* DMA queues */
    {NEURON_IOCTL_DMA_QUEUE_INIT, GATED, NDS_GENERATION_2_24, nds_dma_queue_init},
    {NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, 0, NDS_GENERATION_2_24, nds_dma_queue_init_batch},
    {NEURON_IOCTL_DMA_QUEUE_GET_STATE, 0, NDS_GENERATION_2_24, nds_dma_queue_get_state},
    {NEURON_IOCTL_DMA_COPY_DESCRIPTORS, GATED, NDS_GENERATION_2_24, nds_dma_copy_descriptors},
    {NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, 0, NDS_GENERATION_2_24, nds_dma_copy_descriptors64},
    {NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, 0, NDS_GENERATION_2_24, nds_dma_descriptor_copyout},
};

static const struct command* find(const struct nds_device* device, uint32_t value) {
  const struct command* by_number = NULL;
  size_t index;

  for (index = 0; index < sizeof commands / sizeof commands[0]; index++) {
    const struct command* command = &commands[index];

    if (command->since > device->config.generation) continue;
    if (command->value == value) return command;
    if ((command->flags & BY_NUMBER) && NEURON_IOCTL_NR(command->value) == NEURON_IOCTL_NR(value))
      by_number = command;
  }
  return by_number;
}

/* Counts the call and answers the attach gate: 0, -EACCES or -EINVAL (no such command here). */
static long admit(struct nds_file* file, int32_t tgid, const struct command* command) {
  struct nds_device* device = file->device;
  long result = 0;

  nds_mutex_lock(&device->lock);
  device->counters.ioctls++;
  if (!command || (file->free_access && !(command->flags & MISC))) {
    device->counters.unknown_ioctls += !command;
    result = -EINVAL;
  } else if (!file->free_access && (command->flags & GATED) && !nds_is_attached(device, tgid)) {
    result = -EACCES;
  }
  nds_mutex_unlock(&device->lock);
  return result;
}

long nds_file_ioctl(struct nds_file* file, int32_t tgid, uint32_t command, uint64_t argument) {
  struct nds_call call = {
      .device = file->device,
      .tgid = tgid,
      .command = command,
      .argument = argument,
  };
  const struct command* found = find(file->device, command);
  long result = admit(file, tgid, found);

  if (!found) nds_os_log("unknown ioctl 0x%08X", command);
  return result ? result : found->handler(&call);
}
