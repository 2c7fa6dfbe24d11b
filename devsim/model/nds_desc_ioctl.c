/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Writing descriptors into rings, with vetting, and reading them back (spec 06 section 4.7). */
#include "nds_internal.h"

#define STAGING_BYTES 0x10000u

static bool is_host_address(const struct nds_profile* profile, uint64_t pa) {
  return (pa & profile->host_mask) == profile->host_base;
}

/* True if `pa` lies in a host chunk of this device. */
static bool in_own_host_chunk(struct nds_device* device, uint64_t pa) {
  const struct nds_chunk* chunk;
  bool found;

  nds_mutex_lock(&device->lock);
  chunk = nds_chunk_at(&device->chunks, pa);
  found = chunk && chunk->host;
  nds_mutex_unlock(&device->lock);
  return found;
}

/* The same, for the other devices the caller is attached to. */
static bool in_foreign_host_chunk(struct nds_call* call, uint64_t pa) {
  struct nds_machine* machine = call->device->machine;
  bool found = false;
  uint32_t index;

  nds_mutex_lock(&machine->lock);
  for (index = 0; !found && index < NEURON_MAX_DEVICES; index++) {
    struct nds_device* other = machine->devices[index];

    if (!other || other == call->device) continue;
    nds_mutex_lock(&other->lock);
    found = nds_is_attached(other, call->tgid);
    nds_mutex_unlock(&other->lock);
    found = found && in_own_host_chunk(other, pa);
  }
  nds_mutex_unlock(&machine->lock);
  return found;
}

static uint64_t pointer_of(const uint8_t* descs, uint32_t index) {
  uint64_t pa;

  memcpy(&pa, descs + index * NEURON_UDMA_DESC_SIZE + NEURON_UDMA_DESC_PTR_OFFSET, sizeof pa);
  return pa;
}

/*
 * False if no pointer lies in host space, which is the rule: a pointer that does has all bits of
 * the base, and so has the union of all. One operation a descriptor. True says nothing.
 */
static bool may_name_host(const struct nds_profile* profile, const uint8_t* descs, uint32_t count) {
  uint64_t all = 0;
  uint32_t index;

  for (index = 0; index < count; index++) all |= pointer_of(descs, index);
  return (all & profile->host_base) == profile->host_base;
}

/*
 * Only pointers into host space are checked, only by their first byte, and any byte of a live host
 * chunk is accepted (11 B.2 item 11). 0 or -EINVAL.
 */
static int vet(struct nds_call* call, const uint8_t* descs, uint32_t count) {
  uint32_t index;

  if (!may_name_host(call->device->profile, descs, count)) return 0;
  for (index = 0; index < count; index++) {
    uint64_t pa = pointer_of(descs, index);

    if (!is_host_address(call->device->profile, pa)) continue;
    if (!in_own_host_chunk(call->device, pa) && !in_foreign_host_chunk(call, pa)) return -EINVAL;
  }
  return 0;
}

/* One staging buffer full: read, vet, write. */
static long write_piece(struct nds_call* call, const struct neuron_dma_copy_descriptors64* argument,
                        const struct nds_chunk* chunk, uint64_t done, uint8_t* staging) {
  uint64_t rest = (uint64_t)argument->num_descs * NEURON_UDMA_DESC_SIZE - done;
  size_t bytes = rest < STAGING_BYTES ? (size_t)rest : STAGING_BYTES;
  struct nds_space* space;
  uint64_t offset;
  long result = nds_fault(call, nds_os_from_user(staging, argument->buffer_ptr + done, bytes));

  if (result) return result;
  if (argument->queue_type != NEURON_QUEUE_TX && argument->queue_type != NEURON_QUEUE_RX)
    return -EPERM;
  result = vet(call, staging, (uint32_t)(bytes / NEURON_UDMA_DESC_SIZE));
  if (result) return result;
  if (!chunk->host && nds_is_silent(call->device, NDS_SILENT_DMA)) return -EPERM;
  space = nds_chunk_space(call->device, chunk, &offset);
  return nds_os_space_write(space, offset + argument->offset + done, staging, bytes);
}

static long write_all(struct nds_call* call, const struct neuron_dma_copy_descriptors64* argument,
                      const struct nds_chunk* chunk) {
  uint64_t bytes = (uint64_t)argument->num_descs * NEURON_UDMA_DESC_SIZE;
  uint64_t done;
  uint8_t* staging;
  long result = 0;

  if (!nds_chunk_covers(call->device, chunk, argument->offset, bytes)) return -EINVAL;
  staging = nds_os_alloc(bytes < STAGING_BYTES ? (size_t)bytes + 1 : STAGING_BYTES);
  if (!staging) return -ENOMEM;
  for (done = 0; !result && done < bytes; done += STAGING_BYTES)
    result = write_piece(call, argument, chunk, done, staging);
  nds_os_free(staging);
  return result;
}

static long copy_descriptors(struct nds_call* call,
                             const struct neuron_dma_copy_descriptors64* argument) {
  struct nds_chunk* chunk = nds_chunk_pin(call->device, argument->mem_handle);
  long result;

  if (!chunk) return -EINVAL;
  result = write_all(call, argument, chunk);
  nds_chunk_unpin(call->device, chunk);
  return result;
}

long nds_dma_copy_descriptors(struct nds_call* call) {
  struct neuron_dma_copy_descriptors argument;
  struct neuron_dma_copy_descriptors64 wide = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  wide.mem_handle = argument.mem_handle;
  wide.buffer_ptr = argument.buffer_ptr;
  wide.num_descs = argument.num_descs;
  wide.offset = argument.offset;
  wide.queue_type = argument.queue_type;
  return copy_descriptors(call, &wide);
}

long nds_dma_copy_descriptors64(struct nds_call* call) {
  struct neuron_dma_copy_descriptors64 argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : copy_descriptors(call, &argument);
}

/* The ring a read-back names: a copy of it, or an error in the driver's order of checks. */
static int find_ring(struct nds_device* device,
                     const struct neuron_dma_descriptor_copyout* argument, struct nds_ring* out) {
  const struct nds_queue* queue;
  int error = 0;

  if (!argument->count) return -EINVAL;
  nds_dma_lock(device);
  queue = nds_dma_queue(device, argument->eng_id, argument->qid);
  if (!queue)
    error = -EINVAL;
  else
    *out = argument->type == NEURON_QUEUE_TX ? queue->tx : queue->rx;
  nds_dma_unlock(device);
  if (error) return error;
  if (argument->start_index > out->length || argument->count > out->length - argument->start_index)
    return -EFBIG;
  return argument->type == NEURON_QUEUE_TX || argument->type == NEURON_QUEUE_RX ? 0 : -EINVAL;
}

/* Pins the ring's chunk if it still lives. */
static struct nds_chunk* pin_ring(struct nds_device* device, const struct nds_ring* ring) {
  struct nds_chunk* chunk = NULL;

  nds_mutex_lock(&device->lock);
  if (nds_ring_chunk_lives(device, ring)) {
    chunk = nds_chunk_at(&device->chunks, ring->chunk_pa);
    chunk->pins++;
  }
  nds_mutex_unlock(&device->lock);
  return chunk;
}

long nds_dma_descriptor_copyout(struct nds_call* call) {
  struct neuron_dma_descriptor_copyout argument;
  struct nds_device* device = call->device;
  struct nds_ring ring;
  struct nds_chunk* chunk;
  struct nds_space* space;
  uint64_t offset, start, bytes, uncopied = 0;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) result = find_ring(device, &argument, &ring);
  if (result) return result;
  chunk = pin_ring(device, &ring);
  if (!chunk) return -EINVAL;
  /* The driver forgets the start index of rings in device memory (11 B.3). */
  start = ring.chunk_host || device->config.strictness == NDS_CLEAN ? argument.start_index : 0;
  start *= NEURON_UDMA_DESC_SIZE;
  bytes = (uint64_t)argument.count * NEURON_UDMA_DESC_SIZE;
  space = nds_chunk_space(device, chunk, &offset);
  /* A ring may be longer than its chunk; what lies behind is not the caller's to read. */
  if (!nds_chunk_covers(device, chunk, start, bytes))
    result = -EINVAL;
  else
    result = nds_os_space_to_user(space, offset + start, argument.buffer_ptr, bytes, &uncopied);
  if (!result) result = nds_fault(call, uncopied);
  nds_chunk_unpin(device, chunk);
  return result;
}
