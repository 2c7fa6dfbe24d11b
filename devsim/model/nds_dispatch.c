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
    {NEURON_IOCTL_DEVICE_RESET, 0, NDS_GENERATION_2_24, nds_device_reset},
    {NEURON_IOCTL_DEVICE_READY, 0, NDS_GENERATION_2_24, nds_device_ready},
    {NEURON_IOCTL_DEVICE_INFO, 0, NDS_GENERATION_2_24, nds_device_info},
    {NEURON_IOCTL_DEVICE_INIT, 0, NDS_GENERATION_2_24, nds_do_nothing},
    {NEURON_IOCTL_DEVICE_RELEASE, 0, NDS_GENERATION_2_24, nds_do_nothing},
    {NEURON_IOCTL_DEVICE_APP_PID, 0, NDS_GENERATION_2_24, nds_device_app_pid},
    {NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, 0, NDS_GENERATION_2_24, nds_device_get_all_apps_info},
    {NEURON_IOCTL_DEVICE_RESET_STATUS, 0, NDS_GENERATION_2_24, nds_device_ready},
    {NEURON_IOCTL_DEVICE_BASIC_INFO, MISC, NDS_GENERATION_2_24, nds_device_basic_info},
    {NEURON_IOCTL_DEVICE_BDF, 0, NDS_GENERATION_2_24, nds_device_bdf},
    {NEURON_IOCTL_DEVICE_BDF_EXT, MISC, NDS_GENERATION_2_24, nds_device_bdf_ext},
    {NEURON_IOCTL_COMPATIBLE_VERSION, MISC, NDS_GENERATION_2_24, nds_compatible_version},
    {NEURON_IOCTL_DRIVER_INFO_SET, GATED | MISC, NDS_GENERATION_2_24, nds_driver_info},
    {NEURON_IOCTL_DRIVER_INFO_GET, MISC | BY_NUMBER, NDS_GENERATION_2_24, nds_driver_info},
    {NEURON_IOCTL_HOST_DEVICE_ID, 0, NDS_GENERATION_2_24, nds_host_device_id},
    {NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP, MISC | BY_NUMBER, NDS_GENERATION_2_24,
     nds_host_device_id_to_rid_map},
    {NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, MISC, NDS_GENERATION_2_24, nds_nc_map},
    {NEURON_IOCTL_POD_INFO, MISC, NDS_GENERATION_2_24, nds_pod_info},
    {NEURON_IOCTL_POD_STATUS, MISC, NDS_GENERATION_2_24, nds_pod_status},
    {NEURON_IOCTL_POD_STATUS_V2, MISC, NDS_GENERATION_2_24, nds_pod_status},
    {NEURON_IOCTL_POD_CTRL, MISC, NDS_GENERATION_2_24, nds_pod_ctrl},
    {NEURON_IOCTL_POD_CTRL_V2, MISC, NDS_GENERATION_2_24, nds_pod_ctrl},
    {NEURON_IOCTL_PRINTK, MISC, NDS_GENERATION_2_24, nds_printk},
    {NEURON_IOCTL_NC_PID_STATE_DUMP, MISC, NDS_GENERATION_2_24, nds_nc_pid_state_dump},
    {NEURON_IOCTL_DMABUF_FD, MISC, NDS_GENERATION_2_24, nds_dmabuf_fd},
    /* core ranges, locks, init and resets */
    {NEURON_IOCTL_CRWL_NC_RANGE_MARK, MISC, NDS_GENERATION_2_24, nds_range_mark},
    {NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, MISC, NDS_GENERATION_2_24, nds_range_mark},
    {NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, MISC, NDS_GENERATION_2_24, nds_range_unmark},
    {NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, MISC, NDS_GENERATION_2_24, nds_range_unmark},
    {NEURON_IOCTL_CRWL_READER_ENTER, 0, NDS_GENERATION_2_24, nds_crwl},
    {NEURON_IOCTL_CRWL_READER_EXIT, 0, NDS_GENERATION_2_24, nds_crwl},
    {NEURON_IOCTL_CRWL_WRITER_ENTER, 0, NDS_GENERATION_2_24, nds_crwl},
    {NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, NDS_GENERATION_2_24, nds_crwl},
    {NEURON_IOCTL_CINIT_SET_STATE, 0, NDS_GENERATION_2_24, nds_cinit_set_state},
    {NEURON_IOCTL_NC_MODEL_STARTED_COUNT, 0, NDS_GENERATION_2_24, nds_nc_model_started_count},
    {NEURON_IOCTL_NC_RESET, 0, NDS_GENERATION_2_24, nds_nc_reset},
    {NEURON_IOCTL_NC_RESET_READY, 0, NDS_GENERATION_2_24, nds_nc_reset_ready},
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
    {NEURON_IOCTL_DUMP_MEM_CHUNKS, 0, NDS_GENERATION_2_24, nds_dump_mem_chunks},
    {NEURON_IOCTL_RESOURCE_MMAP_INFO, 0, NDS_GENERATION_2_24, nds_resource_mmap_info},
    {NEURON_IOCTL_ACQUIRE_NEURON_DS, 0, NDS_GENERATION_2_24, nds_acquire_store},
    {NEURON_IOCTL_RELEASE_NEURON_DS, 0, NDS_GENERATION_2_24, nds_release_store},
    /* copies */
    {NEURON_IOCTL_MEM_BUF_COPY, 0, NDS_GENERATION_2_24, nds_mem_buf_copy},
    {NEURON_IOCTL_MEM_BUF_COPY64, 0, NDS_GENERATION_2_24, nds_mem_buf_copy64},
    {NEURON_IOCTL_MEM_BUF_ZEROCOPY64, BY_NUMBER, NDS_GENERATION_2_24, nds_mem_buf_zerocopy64},
    {NEURON_IOCTL_MEM_COPY, GATED, NDS_GENERATION_2_24, nds_mem_copy},
    {NEURON_IOCTL_MEM_COPY64, 0, NDS_GENERATION_2_24, nds_mem_copy64},
    {NEURON_IOCTL_MEM_COPY64_V30, 0, NDS_GENERATION_2_30, nds_mem_copy64_v30},
    {NEURON_IOCTL_MEM_COPY_ASYNC, GATED, NDS_GENERATION_2_24, nds_mem_copy_async},
    {NEURON_IOCTL_MEM_COPY_ASYNC64, 0, NDS_GENERATION_2_24, nds_mem_copy_async64},
    {NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, GATED, NDS_GENERATION_2_24, nds_mem_copy_async_wait},
    {NEURON_IOCTL_MEMSET, 0, NDS_GENERATION_2_24, nds_memset},
    {NEURON_IOCTL_MEMSET64, 0, NDS_GENERATION_2_24, nds_memset64},
    {NEURON_IOCTL_PROGRAM_ENGINE, 0, NDS_GENERATION_2_24, nds_program_engine},
    {NEURON_IOCTL_PROGRAM_ENGINE_NC, 0, NDS_GENERATION_2_24, nds_program_engine_nc},
    {NEURON_IOCTL_PROGRAM_ENGINE_NC64, 0, NDS_GENERATION_2_24, nds_program_engine_nc64},
    {NEURON_IOCTL_HBM_SCRUB_START, 0, NDS_GENERATION_2_24, nds_hbm_scrub_start},
    {NEURON_IOCTL_HBM_SCRUB_WAIT, 0, NDS_GENERATION_2_24, nds_hbm_scrub_wait},
    /* DMA engines and queues */
    {NEURON_IOCTL_DMA_ENG_INIT, GATED, NDS_GENERATION_2_24, nds_do_nothing},
    {NEURON_IOCTL_DMA_ENG_SET_STATE, GATED, NDS_GENERATION_2_24, nds_dma_eng_set_state},
    {NEURON_IOCTL_DMA_ENG_GET_STATE, 0, NDS_GENERATION_2_24, nds_dma_eng_get_state},
    {NEURON_IOCTL_DMA_QUEUE_INIT, GATED, NDS_GENERATION_2_24, nds_dma_queue_init},
    {NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, 0, NDS_GENERATION_2_24, nds_dma_queue_init_batch},
    {NEURON_IOCTL_DMA_QUEUE_RELEASE, GATED, NDS_GENERATION_2_24, nds_do_nothing},
    {NEURON_IOCTL_DMA_QUEUE_COPY_START, 0, NDS_GENERATION_2_24, nds_dma_queue_copy_start},
    {NEURON_IOCTL_DMA_ACK_COMPLETED, GATED, NDS_GENERATION_2_24, nds_dma_ack_completed},
    {NEURON_IOCTL_DMA_QUEUE_GET_STATE, 0, NDS_GENERATION_2_24, nds_dma_queue_get_state},
    {NEURON_IOCTL_DMA_COPY_DESCRIPTORS, GATED, NDS_GENERATION_2_24, nds_dma_copy_descriptors},
    {NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, 0, NDS_GENERATION_2_24, nds_dma_copy_descriptors64},
    {NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, 0, NDS_GENERATION_2_24, nds_dma_descriptor_copyout},
    {NEURON_IOCTL_DMA_QUIESCE_QUEUES, 0, NDS_GENERATION_2_24, nds_no_ioctl},
    /* semaphores, events, notification queues */
    {NEURON_IOCTL_SEMAPHORE_INCREMENT, 0, NDS_GENERATION_2_24, nds_semaphore_increment},
    {NEURON_IOCTL_SEMAPHORE_DECREMENT, 0, NDS_GENERATION_2_24, nds_semaphore_decrement},
    {NEURON_IOCTL_SEMAPHORE_READ, 0, NDS_GENERATION_2_24, nds_semaphore_read},
    {NEURON_IOCTL_SEMAPHORE_WRITE, 0, NDS_GENERATION_2_24, nds_semaphore_write},
    {NEURON_IOCTL_EVENT_SET, 0, NDS_GENERATION_2_24, nds_event_set},
    {NEURON_IOCTL_EVENT_GET, 0, NDS_GENERATION_2_24, nds_event_get},
    {NEURON_IOCTL_NOTIFICATIONS_INIT_V1, GATED, NDS_GENERATION_2_24, nds_notifications_init_v1},
    {NEURON_IOCTL_NOTIFICATIONS_INIT_V2, GATED, NDS_GENERATION_2_24, nds_notifications_init_v2},
    {NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2, GATED, NDS_GENERATION_2_24,
     nds_notifications_init_realloc_v2},
    {NEURON_IOCTL_NOTIFICATIONS_DESTROY_V1, 0, NDS_GENERATION_2_24, nds_do_nothing},
    {NEURON_IOCTL_NOTIFICATIONS_QUEUE_INFO, 0, NDS_GENERATION_2_24, nds_not_permitted},
    /* registers */
    {NEURON_IOCTL_BAR_READ, 0, NDS_GENERATION_2_24, nds_bar_read},
    {NEURON_IOCTL_BAR_WRITE, GATED, NDS_GENERATION_2_24, nds_bar_write},
    {NEURON_IOCTL_READ_HW_COUNTERS, 0, NDS_GENERATION_2_24, nds_read_hw_counters},
    {NEURON_IOCTL_POST_METRIC, GATED, NDS_GENERATION_2_24, nds_post_metric},
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
