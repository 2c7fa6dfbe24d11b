/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Data stores: 16 pieces of 256 KiB host memory in which processes leave their counters (spec 06
 * section 8). They are the driver's own memory, outside the pool that allocations come from.
 */
#include "nds_internal.h"

#define FIRST_STORE_BUS 0x8000000ull

static uint64_t store_pa(const struct nds_device* device, uint32_t index) {
  return device->profile->host_base + FIRST_STORE_BUS + (uint64_t)index * NDS_DATA_STORE_BYTES;
}

int nds_stores_create(struct nds_device* device) {
  uint32_t index;
  int error = 0;

  for (index = 0; !error && index < NDS_DATA_STORES; index++)
    error = nds_chunk_adopt(device, store_pa(device, index), NDS_DATA_STORE_BYTES);
  return error;
}

void nds_stores_clear(struct nds_device* device) {
  memset(device->stores, 0, sizeof device->stores);
}

static struct nds_data_store* find_store(struct nds_device* device, int32_t tgid) {
  uint32_t index;

  for (index = 0; index < NDS_DATA_STORES; index++)
    if (device->stores[index].tgid == tgid) return &device->stores[index];
  return NULL;
}

/* A fresh store reads as zero. */
static struct nds_data_store* open_store(struct nds_device* device, int32_t tgid) {
  struct nds_data_store* store = find_store(device, 0);
  uint64_t offset;

  if (!store) return NULL;
  offset = FIRST_STORE_BUS + (uint64_t)(store - device->stores) * NDS_DATA_STORE_BYTES;
  if (nds_os_space_fill(device->host_space, offset, 0, NDS_DATA_STORE_BYTES)) return NULL;
  store->tgid = tgid;
  return store;
}

static long acquire(struct nds_device* device, int32_t caller, int32_t wanted, uint64_t* pa) {
  struct nds_data_store* store = find_store(device, wanted ? wanted : caller);

  if (!store && wanted) return -ENOENT;
  if (!store) store = open_store(device, caller);
  if (!store) return -ENOMEM;
  store->references++;
  *pa = store_pa(device, (uint32_t)(store - device->stores));
  return 0;
}

long nds_acquire_store(struct nds_call* call) {
  struct neuron_neuron_ds argument;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  nds_mutex_lock(&call->device->lock);
  result = acquire(call->device, call->tgid, argument.pid, &argument.mmap_offset);
  nds_mutex_unlock(&call->device->lock);
  if (result) return result;
  argument.size = NDS_DATA_STORE_BYTES;
  return nds_put(call, &argument, sizeof argument);
}

/* An unknown process is no error (11 B.2 item 16). A store lives until its own process goes. */
long nds_release_store(struct nds_call* call) {
  struct neuron_neuron_ds argument;
  struct nds_data_store* store;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  nds_mutex_lock(&call->device->lock);
  store = find_store(call->device, argument.pid ? argument.pid : call->tgid);
  if (store && store->references) store->references--;
  nds_mutex_unlock(&call->device->lock);
  return 0;
}
