/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Calls with fixed answers (spec 06 section 4.1), pods, and the dump of a HBM's chunks. */
#include "nds_internal.h"

/* DEVICE_INIT, DEVICE_RELEASE, DMA_ENG_INIT, NOTIFICATIONS_DESTROY_V1, DMA_QUEUE_RELEASE. */
long nds_do_nothing(struct nds_call* call) {
  (void)call;
  return 0;
}

/* NOTIFICATIONS_QUEUE_INFO is not supported, which the driver says with its -1. */
long nds_not_permitted(struct nds_call* call) {
  (void)call;
  return -EPERM;
}

/* DMA_QUIESCE_QUEUES has no handler; the VFS turns that into ENOTTY. */
long nds_no_ioctl(struct nds_call* call) {
  (void)call;
  return -ENOTTY;
}

/* Without a mapping that the device made there is nothing to export. */
long nds_dmabuf_fd(struct nds_call* call) {
  struct neuron_dmabuf_fd argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : -EINVAL;
}

/* The driver's log of processes and cores: there is none to print. */
long nds_nc_pid_state_dump(struct nds_call* call) {
  struct neuron_nc_pid_state_dump argument;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) nds_os_log("state of core %u was asked for", argument.nc_id);
  return result;
}

/* No device of the model belongs to a pod. */
long nds_pod_info(struct nds_call* call) {
  struct neuron_pod_info info;
  long result = nds_get(call, &info, sizeof info);

  if (result) return result;
  if (info.sz != sizeof info) return -EINVAL;
  info.pod_type = 0;
  info.pod_sz = 0;
  memset(info.pod_id, 0, sizeof info.pod_id);
  return nds_put(call, &info, sizeof info);
}

/* Both forms; `sz` names the form. */
long nds_pod_status(struct nds_call* call) {
  struct neuron_pod_status_v2 status;
  size_t bytes = NEURON_IOCTL_SIZE_OF(call->command);
  long result = nds_get(call, &status, bytes);

  if (result) return result;
  if (status.v1.sz != bytes) return -EINVAL;
  memset(status.v1.pod_id, 0, sizeof status.v1.pod_id);
  status.v1.state = NEURON_POD_SINGLE_NODE;
  status.v1.pod_type = 0;
  status.v1.pod_sz = 0;
  status.v1.node_id = NEURON_POD_NODE_ID_NONE;
  status.mode = 0;
  status.modes_supported = 0;
  return nds_put(call, &status, bytes);
}

/* V3 leaves the state as the caller set it (11 B.1). */
long nds_pod_ctrl(struct nds_call* call) {
  struct neuron_pod_ctrl_v2 ctrl;
  size_t bytes = NEURON_IOCTL_SIZE_OF(call->command);
  long result = nds_get(call, &ctrl, bytes);

  if (result) return result;
  if (ctrl.v1.sz != bytes) return -EINVAL;
  if (nds_is_v2(call->device)) ctrl.v1.state = NEURON_POD_SINGLE_NODE;
  return nds_put(call, &ctrl, bytes);
}

/* Chunks of one HBM by address. Fills at most `room` records and returns how many there are. */
static uint32_t list_chunks(const struct nds_device* device, uint32_t hbm,
                            struct neuron_mem_chunk_info* info, uint32_t room) {
  uint64_t base = device->hbm[hbm].base;
  const struct nds_chunk* chunk = nds_chunk_from(&device->chunks, base);
  uint32_t count = 0;

  while (chunk && chunk->pa - base < device->hbm[hbm].bytes) {
    if (count < room) {
      info[count].pa = chunk->pa;
      info[count].size = chunk->bytes;
      info[count].mem_type = chunk->mem_type;
    }
    count++;
    (void)nds_os_yield();
    chunk = nds_chunk_from(&device->chunks, chunk->pa + 1);
  }
  return count;
}

static uint32_t count_chunks(struct nds_device* device, uint32_t hbm) {
  uint32_t count;

  nds_mutex_lock(&device->lock);
  count = list_chunks(device, hbm, NULL, 0);
  nds_mutex_unlock(&device->lock);
  return count;
}

/* Too few slots: -EAGAIN and the true number. */
long nds_dump_mem_chunks(struct nds_call* call) {
  struct nds_device* device = call->device;
  struct neuron_dump_mem_chunks argument;
  struct neuron_mem_chunk_info* info = NULL;
  uint32_t room = 0;
  long result = nds_get(call, &argument, sizeof argument);
  long fault;

  if (result) return result;
  argument.num_entries_out = 0;
  if (argument.hbm_index < device->profile->hbm_count) {
    /* The caller's number may be anything; ours bounds the memory. */
    room = count_chunks(device, argument.hbm_index);
    if (argument.num_entries_in < room) room = argument.num_entries_in;
    info = nds_os_alloc(room * sizeof *info + 1);
    if (!info) return -ENOMEM;
    nds_mutex_lock(&device->lock);
    argument.num_entries_out = list_chunks(device, argument.hbm_index, info, room);
    nds_mutex_unlock(&device->lock);
  }
  if (argument.num_entries_out > argument.num_entries_in) result = -EAGAIN;
  if (argument.num_entries_out < room) room = argument.num_entries_out;
  if (!result && room) result = nds_put_at(call, argument.data_ptr, info, room * sizeof *info);
  nds_os_free(info);
  fault = nds_put(call, &argument, sizeof argument);
  return result ? result : fault;
}
