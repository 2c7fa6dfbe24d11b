/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Asynchronous copies between handles, and writes to engines (spec 06 section 4.6). A copy is done
 * when its call returns; only the book-keeping of its context is as in the driver.
 */
#include "nds_internal.h"

/* One batch of the driver: 2032 descriptors of 64 KiB (11 B.1). */
#define ASYNC_LIMIT (2032ull * 0x10000)

struct copy_request {
  struct neuron_mem_copy64 copy;
  int32_t previous; /* context whose end is to be waited for, or NEURON_ASYNC_NONE / _SYNC */
};

/* The core whose copy queue serves two handles: the device-side chunk's, the destination first. */
static uint32_t queue_core(struct nds_device* device, const struct neuron_mem_copy64* copy) {
  const struct nds_chunk* from = nds_handle_find(&device->handles, copy->src_mem_handle);
  const struct nds_chunk* to = nds_handle_find(&device->handles, copy->dst_mem_handle);

  if (to && !to->host) return to->nc_id;
  if (from && !from->host) return from->nc_id;
  return to ? to->nc_id : 0;
}

static int32_t next_context(int32_t previous) {
  switch (previous) {
    case NEURON_ASYNC_NONE:
    case NEURON_ASYNC_2:
      return NEURON_ASYNC_1;
    case NEURON_ASYNC_1:
      return NEURON_ASYNC_2;
    default:
      return NEURON_ASYNC_SYNC;
  }
}

static bool is_context(int32_t handle) {
  return handle == NEURON_ASYNC_1 || handle == NEURON_ASYNC_2;
}

/* Waits for a context: 0, or -EINVAL if it is not in flight. Needs the device lock. */
static long finish(struct nds_device* device, uint32_t core, int32_t handle) {
  bool* busy = &device->cores[core].async_busy[handle];

  if (!*busy) return -EINVAL;
  *busy = false;
  return 0;
}

static long copy_async(struct nds_device* device, const struct copy_request* request,
                       int32_t* context) {
  uint32_t core;
  long result;

  if (request->previous < NEURON_ASYNC_NONE || request->previous > NEURON_ASYNC_2) return -EINVAL;
  nds_mutex_lock(&device->lock);
  core = queue_core(device, &request->copy);
  result = 0;
  if (is_context(request->previous) && !device->cores[core].async_busy[request->previous])
    result = -EINVAL;
  nds_mutex_unlock(&device->lock);
  if (result) return result;
  *context = next_context(request->previous);
  result =
      nds_copy_between(device, &request->copy, *context == NEURON_ASYNC_SYNC ? ~0ull : ASYNC_LIMIT);
  if (result) return result;
  /* Too large: the first batch has been moved already (11 B.1). */
  if (*context != NEURON_ASYNC_SYNC && request->copy.size > ASYNC_LIMIT) return -EINVAL;
  nds_mutex_lock(&device->lock);
  if (is_context(request->previous)) (void)finish(device, core, request->previous);
  if (is_context(*context)) device->cores[core].async_busy[*context] = true;
  nds_mutex_unlock(&device->lock);
  return 0;
}

long nds_mem_copy_async(struct nds_call* call) {
  struct neuron_mem_copy_async argument;
  struct copy_request request;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  request.copy.src_mem_handle = argument.src_mem_handle;
  request.copy.dst_mem_handle = argument.dst_mem_handle;
  request.copy.size = argument.size;
  request.copy.src_offset = argument.src_offset;
  request.copy.dst_offset = argument.dst_offset;
  request.previous = argument.pwait_handle;
  result = copy_async(call->device, &request, &argument.wait_handle);
  return result ? result : nds_put(call, &argument, sizeof argument);
}

long nds_mem_copy_async64(struct nds_call* call) {
  struct neuron_mem_copy_async64 argument;
  struct copy_request request;
  long result = nds_get_for_reply(call, &argument, sizeof argument);

  if (result) return result;
  request.copy.src_mem_handle = argument.src_mem_handle;
  request.copy.dst_mem_handle = argument.dst_mem_handle;
  request.copy.size = argument.size;
  request.copy.src_offset = argument.src_offset;
  request.copy.dst_offset = argument.dst_offset;
  request.previous = argument.pwait_handle;
  result = copy_async(call->device, &request, &argument.wait_handle);
  return result ? result : nds_put(call, &argument, sizeof argument);
}

long nds_mem_copy_async_wait(struct nds_call* call) {
  struct neuron_mem_copy_async_wait argument;
  struct neuron_mem_copy64 copy = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (!is_context(argument.pwait_handle)) return -EINVAL;
  copy.src_mem_handle = argument.src_mem_handle;
  copy.dst_mem_handle = argument.dst_mem_handle;
  nds_mutex_lock(&call->device->lock);
  result = finish(call->device, queue_core(call->device, &copy), argument.pwait_handle);
  nds_mutex_unlock(&call->device->lock);
  return result;
}

/* Through a bounce buffer of at most this much, as the driver's own. */
#define BOUNCE_BYTES 0x10000u

static long write_engine(struct nds_call* call, uint64_t pa, uint64_t user, uint64_t bytes) {
  uint8_t* bounce = nds_os_alloc(bytes < BOUNCE_BYTES ? (size_t)bytes : BOUNCE_BYTES);
  uint64_t done = 0;
  long result = 0;

  if (!bounce) return -ENOMEM;
  while (!result && done < bytes) {
    size_t piece = bytes - done < BOUNCE_BYTES ? (size_t)(bytes - done) : BOUNCE_BYTES;

    result = nds_fault(call, nds_os_from_user(bounce, user + done, piece));
    if (!result && nds_is_silent(call->device, NDS_SILENT_DMA)) result = -EPERM;
    if (result) break;
    nds_dma_lock(call->device);
    result = nds_bus_write(call->device, pa + done, bounce, piece);
    nds_dma_run(call->device);
    nds_dma_unlock(call->device);
    done += piece;
  }
  nds_os_free(bounce);
  return result;
}

/* The offset counts on both sides (06 4.6). */
static long program(struct nds_call* call, const struct neuron_program_engine_nc64* argument) {
  if (argument->nc_id >= NEURON_MAX_CORES_PER_DEVICE) return -ENOMEM;
  if (argument->offset > ~0ull - argument->dst) return -ENOMEM;
  if (!nds_bus_is_programmable(call->device, argument->dst + argument->offset, argument->size))
    return -ENOMEM;
  return write_engine(call, argument->dst + argument->offset,
                      argument->buffer_ptr + argument->offset, argument->size);
}

long nds_program_engine(struct nds_call* call) {
  struct neuron_program_engine argument;
  struct neuron_program_engine_nc64 wide = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  wide.dst = argument.dst;
  wide.buffer_ptr = argument.buffer_ptr;
  wide.size = argument.size;
  wide.offset = argument.offset;
  return program(call, &wide);
}

long nds_program_engine_nc(struct nds_call* call) {
  struct neuron_program_engine_nc argument;
  struct neuron_program_engine_nc64 wide = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  wide.nc_id = argument.nc_id;
  wide.dst = argument.dst;
  wide.buffer_ptr = argument.buffer_ptr;
  wide.size = argument.size;
  wide.offset = argument.offset;
  return program(call, &wide);
}

long nds_program_engine_nc64(struct nds_call* call) {
  struct neuron_program_engine_nc64 argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : program(call, &argument);
}
