/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Core init, model counts and resets (spec 06 section 4.4). */
#include "nds_core.h"

#include "nds_internal.h"

void nds_cores_init(struct nds_device* device) {
  uint32_t core;

  for (core = 0; core < NEURON_MAX_CORES_PER_DEVICE; core++) {
    device->cores[core].init_state = NEURON_CINIT_INVALID;
    device->facts.resets[core] = 1; /* the one at probe */
  }
}

struct nds_chunk* nds_chunk_of(const struct nds_device* device, const struct nds_chunk_ref* ref) {
  struct nds_chunk* chunk = ref->sequence ? nds_chunk_at(&device->chunks, ref->pa) : NULL;

  return chunk && chunk->sequence == ref->sequence ? chunk : NULL;
}

long nds_cinit_set_state(struct nds_call* call) {
  struct neuron_cinit_set_state argument;
  struct nds_core* core;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.nc_id >= call->device->profile->cores) return -E2BIG;
  core = &call->device->cores[argument.nc_id];
  nds_mutex_lock(&call->device->lock);
  /*
   * A core that another caller is starting makes the real driver wait up to five seconds for the
   * outcome; the model answers with the state at once.
   */
  if (argument.state == NEURON_CINIT_STARTED && core->init_state == NEURON_CINIT_INVALID)
    core->init_state = NEURON_CINIT_STARTED;
  else if (argument.state == NEURON_CINIT_COMPLETED && core->init_state == NEURON_CINIT_STARTED)
    core->init_state = NEURON_CINIT_COMPLETED;
  argument.new_state = core->init_state;
  nds_mutex_unlock(&call->device->lock);
  return nds_put(call, &argument, sizeof argument);
}

/*
 * The driver counts descriptors that fill the instruction RAM of an inf1 core. No architecture of
 * this model has one, and on those the driver's count stays 0 as well.
 */
long nds_nc_model_started_count(struct nds_call* call) {
  struct neuron_nc_model_started_count argument;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.nc_id >= call->device->profile->cores) return -E2BIG;
  argument.started_count = 0;
  return nds_put(call, &argument, sizeof argument);
}

/* HBM, chunks and handles stay; the core's engines, events and notification queues do not. */
static void reset_core(struct nds_device* device, uint32_t core) {
  uint32_t topsps = device->profile->topsps_per_core;
  uint32_t index;

  device->facts.resets[core]++;
  device->cores[core].init_state = NEURON_CINIT_INVALID;
  memset(device->cores[core].async_busy, 0, sizeof device->cores[core].async_busy);
  nds_nq_destroy(device, &device->cores[core].nq);
  for (index = core * topsps; index < (core + 1) * topsps; index++)
    nds_nq_destroy(device, &device->topsp_nq[index]);
  nds_dma_lock(device);
  nds_exec_reset_core(device, core);
  nds_events_clear(device, core);
  nds_nq_reset_registers(device, core);
  nds_dma_reset_core(device, core);
  nds_dma_unlock(device);
}

static void reset_cores(struct nds_device* device, uint32_t map) {
  uint32_t core;

  for (core = 0; core < device->profile->cores; core++)
    if (map >> core & 1) reset_core(device, core);
}

static struct nds_reset_request** find_request(struct nds_device* device, int32_t tgid) {
  struct nds_reset_request** at = &device->resets;

  while (*at && (*at)->tgid != tgid) at = &(*at)->next;
  return at;
}

/* The reset is done when this returns (06 12.13); only its answer waits for NC_RESET_READY. */
static long request_reset(struct nds_device* device, int32_t tgid, uint32_t map) {
  struct nds_reset_request* request;

  /* A second request before the first was asked about gives the driver's own 1. */
  if (*find_request(device, tgid)) return device->config.strictness == NDS_CLEAN ? -EBUSY : 1;
  request = nds_os_alloc(sizeof *request);
  if (!request) return -ENOMEM;
  request->tgid = tgid;
  request->next = device->resets;
  device->resets = request;
  reset_cores(device, map);
  return 0;
}

long nds_nc_reset(struct nds_call* call) {
  struct neuron_nc_reset argument;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  nds_mutex_lock(&call->device->lock);
  result = request_reset(call->device, call->tgid, argument.nc_map);
  nds_mutex_unlock(&call->device->lock);
  if (result) return result;
  argument.request_id = (uint32_t)call->tgid;
  return nds_put(call, &argument, sizeof argument);
}

/* Consumes the request: true if there was one. */
static bool consume_request(struct nds_device* device, int32_t tgid) {
  struct nds_reset_request** at = find_request(device, tgid);
  struct nds_reset_request* found = *at;

  if (!found) return false;
  *at = found->next;
  nds_os_free(found);
  return true;
}

long nds_nc_reset_ready(struct nds_call* call) {
  struct neuron_nc_reset_ready argument;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  nds_mutex_lock(&call->device->lock);
  argument.result = !consume_request(call->device, (int32_t)argument.request_id);
  nds_mutex_unlock(&call->device->lock);
  return nds_put(call, &argument, sizeof argument);
}

long nds_device_reset(struct nds_call* call) {
  nds_mutex_lock(&call->device->lock);
  reset_cores(call->device, NEURON_NC_RESET_WHOLE_DEVICE);
  nds_mutex_unlock(&call->device->lock);
  return 0;
}

/* DEVICE_READY and DEVICE_RESET_STATUS: resets are over at once, so always 1. */
long nds_device_ready(struct nds_call* call) {
  uint8_t ready = 1;

  return nds_put(call, &ready, sizeof ready);
}

void nds_cores_drop_process(struct nds_device* device, int32_t tgid) {
  uint32_t core, index;

  (void)consume_request(device, tgid);
  for (core = 0; core < NEURON_MAX_CORES_PER_DEVICE; core++) {
    struct nds_core_lock* lock = &device->cores[core].lock;

    if (lock->writing && lock->writer == tgid) lock->writing = false;
    for (index = 0; index < NDS_CRWL_READERS; index++) {
      if (lock->reader[index].tgid != tgid) continue;
      lock->readers -= lock->reader[index].count;
      lock->reader[index].tgid = 0;
      lock->reader[index].count = 0;
    }
  }
  for (index = 0; index < NDS_DATA_STORES; index++)
    if (device->stores[index].tgid == tgid)
      memset(&device->stores[index], 0, sizeof device->stores[index]);
}

void nds_cores_destroy(struct nds_device* device) {
  while (device->resets) {
    struct nds_reset_request* request = device->resets;

    device->resets = request->next;
    nds_os_free(request);
  }
}
