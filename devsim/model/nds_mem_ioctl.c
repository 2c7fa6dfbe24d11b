/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Allocation, freeing and looking up of memory (spec 06 section 4.5). */
#include "nds_internal.h"

/* A fault on the argument struct of these is -EACCES, whatever the strictness. */
static long get_or_eacces(const struct nds_call* call, void* argument, size_t bytes) {
  return nds_get(call, argument, bytes) ? -EACCES : 0;
}

/* Allocates and mints the handle; the chunk comes back unlocked, so only its values are given. */
static int alloc_with_handle(struct nds_device* device, const struct nds_alloc_request* request,
                             uint64_t* handle, uint64_t* sequence, uint64_t* pa) {
  struct nds_chunk* chunk;
  int error;

  nds_mutex_lock(&device->lock);
  /* The real kernel dies when an unattached process allocates (11 B.4). */
  error = nds_is_attached(device, request->tgid) ? 0 : -EACCES;
  if (!error) error = nds_chunk_alloc(device, request, &chunk);
  if (!error) {
    error = nds_handle_mint(&device->handles, chunk);
    *handle = chunk->handle;
    *sequence = chunk->sequence;
    *pa = chunk->pa;
    if (error) nds_chunk_free(device, chunk);
  }
  nds_mutex_unlock(&device->lock);
  return error;
}

/* Takes an allocation back whose handle the caller could not be told. */
static void roll_back(struct nds_device* device, uint64_t handle, uint64_t sequence) {
  struct nds_chunk* chunk;

  nds_mutex_lock(&device->lock);
  chunk = nds_handle_find(&device->handles, handle);
  if (chunk && chunk->sequence == sequence) nds_chunk_free(device, chunk);
  nds_mutex_unlock(&device->lock);
}

static long alloc(struct nds_call* call, const struct nds_alloc_request* request,
                  uint64_t handle_ptr) {
  uint64_t handle = 0;
  uint64_t sequence = 0;
  uint64_t pa = 0;
  long result = alloc_with_handle(call->device, request, &handle, &sequence, &pa);

  if (result) return result;
  result = nds_put_at(call, handle_ptr, &handle, sizeof handle);
  if (!result && call->command == NEURON_IOCTL_MEM_ALLOC_V2MT64_PA)
    result = nds_put_at(call, call->argument + offsetof(struct neuron_mem_alloc_v2mt64_pa, pa), &pa,
                        sizeof pa);
  if (result) roll_back(call->device, handle, sequence);
  return result;
}

/* The 2.24 forms differ only in how much of this they carry. */
static long alloc_v2mt(struct nds_call* call, const struct neuron_mem_alloc_v2mt* argument) {
  struct nds_alloc_request request = {
      .bytes = argument->size,
      .align = argument->align,
      .host = argument->host_memory != 0,
      .dram_channel = argument->dram_channel,
      .nc_id = argument->nc_id,
      .mem_type = argument->mem_type,
      .tgid = call->tgid,
      .lifespan = NDS_LIFE_CUR_PROCESS,
  };

  return alloc(call, &request, argument->mem_handle_ptr);
}

static uint32_t untyped(uint32_t host_memory) {
  return host_memory ? NEURON_MEM_UNKNOWN_HOST : NEURON_MEM_UNKNOWN_DEVICE;
}

long nds_mem_alloc(struct nds_call* call) {
  struct neuron_mem_alloc argument;
  struct neuron_mem_alloc_v2mt full = {0};

  if (get_or_eacces(call, &argument, sizeof argument)) return -EACCES;
  full.size = argument.size;
  full.host_memory = argument.host_memory;
  full.dram_channel = argument.dram_channel;
  full.nc_id = argument.nc_id;
  full.mem_type = untyped(argument.host_memory);
  full.mem_handle_ptr = argument.mem_handle_ptr;
  return alloc_v2mt(call, &full);
}

long nds_mem_alloc_v2(struct nds_call* call) {
  struct neuron_mem_alloc_v2 argument;
  struct neuron_mem_alloc_v2mt full = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  full.size = argument.size;
  full.align = argument.align;
  full.host_memory = argument.host_memory;
  full.dram_channel = argument.dram_channel;
  full.nc_id = argument.nc_id;
  full.mem_type = untyped(argument.host_memory);
  full.mem_handle_ptr = argument.mem_handle_ptr;
  return alloc_v2mt(call, &full);
}

long nds_mem_alloc_v2mt(struct nds_call* call) {
  struct neuron_mem_alloc_v2mt argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : alloc_v2mt(call, &argument);
}

/* Also the 2.30 form with a PA behind it: the common part is read with the form's full size. */
long nds_mem_alloc_v2mt64(struct nds_call* call) {
  struct neuron_mem_alloc_v2mt64_pa argument;
  struct neuron_mem_alloc_v2mt common;
  size_t bytes = NEURON_IOCTL_SIZE_OF(call->command);
  long result = nds_get(call, &argument, bytes);

  if (result) return result;
  /* The 48-byte form is a prefix of both, as ioctl.h asserts field by field. */
  memcpy(&common, &argument, sizeof common);
  return alloc_v2mt(call, &common);
}

/*
 * Chunks that must not go through MEM_FREE: a host chunk of type 19, whose freeing crashes the real
 * kernel (11 B.4; it goes with its process), and the firmware's carve-out, to which
 * MEM_MC_GET_INFO_V2 gives a handle: without it the next allocation would land in the firmware.
 */
static bool may_be_freed(const struct nds_chunk* chunk) {
  if (chunk->host) return chunk->mem_type != NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE;
  return chunk->lifespan != NDS_LIFE_DEVICE || chunk->mem_type != NEURON_MEM_NCDEV_DEVICE;
}

long nds_mem_free(struct nds_call* call) {
  struct nds_device* device = call->device;
  struct neuron_mem_free argument;
  struct nds_chunk* chunk;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  nds_mutex_lock(&device->lock);
  chunk = nds_handle_find(&device->handles, argument.mem_handle);
  if (!chunk || !may_be_freed(chunk))
    result = -EINVAL;
  else
    nds_chunk_free(device, chunk);
  nds_mutex_unlock(&device->lock);
  return result;
}

/* Copies what a handle stands for: true, or false for an unknown handle. */
static bool snapshot(struct nds_device* device, uint64_t handle, struct nds_chunk* out) {
  const struct nds_chunk* chunk;

  nds_mutex_lock(&device->lock);
  chunk = nds_handle_find(&device->handles, handle);
  if (chunk) *out = *chunk;
  nds_mutex_unlock(&device->lock);
  return chunk != NULL;
}

long nds_mem_get_pa(struct nds_call* call) {
  struct neuron_mem_get_pa argument;
  struct nds_chunk chunk;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (!snapshot(call->device, argument.mem_handle, &chunk)) return -EINVAL;
  return nds_put_at(call, argument.pa_ptr, &chunk.pa, sizeof chunk.pa);
}

long nds_mem_get_info(struct nds_call* call) {
  struct neuron_mem_get_info argument;
  struct nds_chunk chunk;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (!snapshot(call->device, argument.mem_handle, &chunk)) return -EINVAL;
  /* A null mmap_offset is skipped, a null pa is a fault (11 B.1). */
  if (argument.mmap_offset_ptr) {
    result = nds_put_at(call, argument.mmap_offset_ptr, &chunk.pa, sizeof chunk.pa);
    if (result) return result;
  }
  return nds_put_at(call, argument.pa_ptr, &chunk.pa, sizeof chunk.pa);
}

long nds_mem_get_extended_info(struct nds_call* call) {
  struct neuron_mem_get_extended_info argument;
  struct nds_chunk chunk;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (!snapshot(call->device, argument.mem_handle, &chunk))
    return call->device->config.strictness == NDS_CLEAN ? -EINVAL : EINVAL;
  /* The real driver puts a kernel pointer into mem_handle; the handle stays here (06 12.3). */
  argument.version = 0;
  argument.host_memory = chunk.host;
  argument.mmap_offset = chunk.pa;
  argument.pa = chunk.pa;
  argument.pid = chunk.tgid;
  argument.size = chunk.bytes;
  return nds_put(call, &argument, sizeof argument);
}

/* Finds the chunk around a PA; with_handle mints one if it has none. 0 or -ENOMEM. */
static int chunk_around(struct nds_device* device, uint64_t pa, bool with_handle,
                        struct nds_chunk* out) {
  struct nds_chunk* chunk;
  int error = 0;

  nds_mutex_lock(&device->lock);
  chunk = nds_chunk_at(&device->chunks, pa);
  if (!chunk) error = -ENOMEM;
  if (!error && with_handle && !chunk->handle) error = nds_handle_mint(&device->handles, chunk);
  if (!error) *out = *chunk;
  nds_mutex_unlock(&device->lock);
  return error;
}

/* Selected by number; only the encoded size tells the two forms apart (11 B.1). */
long nds_mem_mc_get_info(struct nds_call* call) {
  struct neuron_mem_mc_get_info_v2 argument;
  struct nds_chunk chunk;
  size_t bytes = NEURON_IOCTL_SIZE_OF(call->command);
  long result;

  if (bytes != sizeof(struct neuron_mem_mc_get_info) && bytes != sizeof argument) return -EINVAL;
  result = nds_get_for_reply(call, &argument, bytes);
  if (result) return result;
  result = chunk_around(call->device, argument.pa, bytes == sizeof argument, &chunk);
  if (result) return result;
  argument.mmap_offset = chunk.pa;
  argument.size = chunk.bytes;
  argument.mem_handle = chunk.handle;
  return nds_put(call, &argument, bytes);
}
