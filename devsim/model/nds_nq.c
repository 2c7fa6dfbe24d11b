/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Notification queues (spec 06 section 4.8, spec 04 section 10). */
#include "nds_internal.h"

/* What every form of the call says. */
struct nq_request {
  uint32_t device_id;
  uint32_t device_type;
  uint32_t type;
  uint32_t engine;
  uint32_t bytes;
  bool host;
  uint32_t dram_channel;
  bool force;
  bool with_handle;
};

struct nq_answer {
  uint64_t mmap_offset;
  uint64_t handle;
};

void nds_nq_destroy(struct nds_device* device, struct nds_nq_set* set) {
  uint32_t id;

  for (id = 0; id < NDS_NQ_IDS; id++) {
    struct nds_chunk* chunk = nds_chunk_of(device, &set->ring[id]);

    if (chunk) nds_chunk_free(device, chunk);
    memset(&set->ring[id], 0, sizeof set->ring[id]);
  }
}

/* BAR 0 place of the notific block of a core or TOPSP (06 7.2). */
static uint64_t notific_block(const struct nds_device* device, const struct nq_request* request) {
  uint32_t id = request->device_id;

  if (request->device_type != NEURON_NQ_DEV_TOPSP) return nds_bar_core_notific(device, id);
  return nds_is_v2(device) ? neuron_v2_bar0_topsp_notific(id) : neuron_v3_bar0_topsp_notific(id);
}

/*
 * Queues of different types with one engine index share registers, as on the real device. A new
 * ring is empty: no record of it carries the phase of the first lap.
 */
static int program(struct nds_device* device, const struct nq_request* request,
                   const struct nds_chunk* chunk, struct nds_nq_set* set) {
  uint32_t index = request->engine & 0xFF;
  uint64_t registers = notific_block(device, request) + index * NEURON_NOTIFIC_STRIDE;
  /* Base, size, head and tail. */
  uint32_t words[5] = {(uint32_t)chunk->pa, (uint32_t)(chunk->pa >> 32), request->bytes};
  uint64_t offset;
  struct nds_space* space = nds_chunk_space(device, chunk, &offset);
  int error = nds_os_space_fill(space, offset, 0, chunk->bytes);

  if (error) return error;
  nds_dma_lock(device);
  set->laps[index % NDS_NQ_IDS] = 0;
  error = nds_os_space_write(device->bar0_space, registers + NEURON_NOTIFIC_BASE_LO, words,
                             sizeof words);
  nds_dma_unlock(device);
  return error;
}

/* The set a request names: 0, -ENOSYS or -EINVAL, in the driver's order with the size between. */
static int find_set(struct nds_device* device, const struct nq_request* request,
                    struct nds_nq_set** set) {
  if (request->device_type > NEURON_NQ_DEV_TOPSP) return -ENOSYS;
  if (request->bytes & (request->bytes - 1)) return -EINVAL;
  if (request->device_type == NEURON_NQ_DEV_CORE) {
    if (request->device_id >= device->profile->cores) return -EINVAL;
    *set = &device->cores[request->device_id].nq;
  } else {
    if (request->device_id >= device->profile->topsps) return -EINVAL;
    *set = &device->topsp_nq[request->device_id];
  }
  return 0;
}

static int allocate(struct nds_device* device, const struct nq_request* request, int32_t tgid,
                    struct nds_chunk** chunk) {
  struct nds_alloc_request memory = {
      .bytes = request->bytes,
      .align = request->host ? 0 : request->bytes,
      .host = request->host,
      .dram_channel = request->dram_channel,
      .mem_type = request->host ? NEURON_MEM_NOTIFICATION_HOST : NEURON_MEM_NOTIFICATION_DEVICE,
      .tgid = tgid,
      .lifespan = NDS_LIFE_DEVICE,
  };

  if (request->device_type == NEURON_NQ_DEV_CORE) memory.nc_id = request->device_id;
  return nds_chunk_alloc(device, &memory, chunk);
}

static int init(struct nds_device* device, const struct nq_request* request, int32_t tgid,
                struct nq_answer* answer) {
  /* Both parts of the id are cut to 8 bits first (11 B.1). */
  uint32_t id = (request->type & 0xFF) * NDS_NQ_ENGINES + (request->engine & 0xFF);
  struct nds_nq_set* set;
  struct nds_chunk *old, *chunk;
  int error = find_set(device, request, &set);

  if (error) return error;
  id &= 0xFF;
  if (id >= NDS_NQ_IDS) return -EINVAL;
  old = nds_chunk_of(device, &set->ring[id]);
  chunk = old;
  if (!old || request->force) {
    error = allocate(device, request, tgid, &chunk);
    if (error) return error;
    if (old) nds_chunk_free(device, old);
    set->ring[id].pa = chunk->pa;
    set->ring[id].sequence = chunk->sequence;
    error = program(device, request, chunk, set);
  }
  if (!error && request->with_handle && !chunk->handle)
    error = nds_handle_mint(&device->handles, chunk);
  if (error) return error;
  answer->mmap_offset = chunk->host ? chunk->pa : NEURON_NQ_DEVICE_MMAP_OFFSET;
  answer->handle = chunk->handle;
  return 0;
}

static int locked_init(struct nds_call* call, const struct nq_request* request,
                       struct nq_answer* answer) {
  int error;

  nds_mutex_lock(&call->device->lock);
  error = init(call->device, request, call->tgid, answer);
  nds_mutex_unlock(&call->device->lock);
  return error;
}

long nds_notifications_init_v1(struct nds_call* call) {
  struct neuron_notifications_init_v1 argument;
  struct nq_request request = {.host = true};
  struct nq_answer answer;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  request.device_id = argument.nc_id;
  request.type = argument.nq_type;
  request.engine = argument.engine_index;
  request.bytes = argument.size;
  result = locked_init(call, &request, &answer);
  if (result) return result;
  argument.mmap_offset = answer.mmap_offset;
  return nds_put(call, &argument, sizeof argument);
}

/* The forms of version 2 agree up to dram_region. */
static struct nq_request request_of(const struct neuron_notifications_init_v2* argument) {
  struct nq_request request = {
      .device_id = argument->nq_dev_id,
      .device_type = argument->nq_dev_type,
      .type = argument->nq_type,
      .engine = argument->engine_index,
      .bytes = argument->size,
      .host = argument->on_host_memory != 0,
      .dram_channel = argument->dram_channel,
      .with_handle = true,
  };

  return request;
}

long nds_notifications_init_v2(struct nds_call* call) {
  struct neuron_notifications_init_v2 argument;
  struct nq_request request;
  struct nq_answer answer;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  request = request_of(&argument);
  result = locked_init(call, &request, &answer);
  if (result) return result;
  argument.mmap_offset = answer.mmap_offset;
  argument.mem_handle = answer.handle;
  return nds_put(call, &argument, sizeof argument);
}

long nds_notifications_init_realloc_v2(struct nds_call* call) {
  struct neuron_notifications_init_realloc_v2 argument;
  struct neuron_notifications_init_v2 common;
  struct nq_request request;
  struct nq_answer answer;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  memcpy(&common, &argument, offsetof(struct neuron_notifications_init_v2, mmap_offset));
  request = request_of(&common);
  request.force = argument.force_alloc_mem != 0;
  result = locked_init(call, &request, &answer);
  if (result) return result;
  argument.mmap_offset = answer.mmap_offset;
  argument.mem_handle = answer.handle;
  return nds_put(call, &argument, sizeof argument);
}
