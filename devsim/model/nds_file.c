/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Files: attach slots, free access, and what a closing process leaves (spec 06 section 2). */
#include "nds_internal.h"

static struct nds_attach_slot* slot_of(struct nds_device* device, int32_t tgid) {
  uint32_t index;

  for (index = 0; index < NEURON_MAX_ATTACHED_PROCESSES; index++)
    if (device->slots[index].tgid == tgid) return &device->slots[index];
  return NULL;
}

bool nds_is_attached(const struct nds_device* device, int32_t tgid) {
  uint32_t index;

  for (index = 0; index < NEURON_MAX_ATTACHED_PROCESSES; index++)
    if (device->slots[index].opens && device->slots[index].tgid == tgid) return true;
  return false;
}

static int attach(struct nds_device* device, int32_t tgid) {
  struct nds_attach_slot* slot = slot_of(device, tgid);

  if (!slot) slot = slot_of(device, 0);
  if (!slot) return -EBUSY;
  slot->tgid = tgid;
  slot->opens++;
  return 0;
}

int nds_file_open(struct nds_device* device, int32_t tgid, uint32_t flags, struct nds_file** out) {
  struct nds_file* file = nds_os_alloc(sizeof *file);
  int error = 0;

  if (!file) return -ENOMEM;
  file->device = device;
  /* O_WRONLY, and access mode 3 too: bit 0 alone decides. */
  file->free_access = flags & 1u;
  if (!file->free_access && nds_is_silent(device, NDS_SILENT_RESET)) {
    error = -EINVAL; /* the reset at probe was given up */
  } else if (!file->free_access) {
    nds_mutex_lock(&device->lock);
    error = attach(device, tgid);
    if (!error) device->open_files++;
    nds_mutex_unlock(&device->lock);
  }
  if (error) {
    nds_os_free(file);
    return error;
  }
  *out = file;
  return 0;
}

/* The last descriptor of a process: its queues lose their rings before its memory goes. */
static void end_process(struct nds_device* device, int32_t tgid) {
  nds_cores_drop_process(device, tgid);
  nds_exec_drop_process(device, tgid);
  nds_dma_drop_process(device, tgid);
  nds_chunk_free_all(device, NDS_LIFE_CUR_PROCESS, tgid);
}

void nds_file_flush(struct nds_file* file, int32_t tgid) {
  struct nds_device* device = file->device;
  struct nds_attach_slot* slot;

  if (file->free_access) {
    nds_marks_drop(device->machine, tgid);
    return;
  }
  nds_mutex_lock(&device->lock);
  slot = slot_of(device, tgid);
  /* A forked child has no slot of its own and no effect. */
  if (slot && slot->opens) {
    if (slot->opens == 1) end_process(device, tgid);
    if (!--slot->opens) slot->tgid = 0;
  }
  nds_mutex_unlock(&device->lock);
}

void nds_file_release(struct nds_file* file) {
  struct nds_device* device = file->device;

  if (!file->free_access) {
    nds_mutex_lock(&device->lock);
    if (!--device->open_files) {
      nds_exec_drop_process(device, 0);
      nds_stores_clear(device);
      nds_chunk_free_all(device, NDS_LIFE_ALL_PROCESS, 0);
      nds_chunk_forget_free(device);
    }
    nds_mutex_unlock(&device->lock);
  }
  nds_os_free(file);
}
