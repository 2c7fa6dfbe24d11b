/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Synchronous copies and fills (spec 06 section 4.6). The real driver moves device memory through
 * 64 KiB bounce buffers or descriptors; the model moves it at once and keeps what can be seen of
 * the pieces: the residue of a fault, and the order of overlapping copies.
 */
#include "nds_internal.h"

#define PIECE 0x10000ull
#define BATCH_DESCS 2032ull /* data descriptors before a marker (11 B.1) */

/*
 * The residue the driver reports when user memory ends early: host chunks are copied in one go,
 * device chunks piece by piece, so that only the failing piece counts (11 B.2 item 8).
 */
static uint64_t visible_residue(const struct nds_chunk* chunk, uint64_t bytes, uint64_t uncopied) {
  uint64_t done = bytes - uncopied;
  uint64_t piece_end = (done & ~(PIECE - 1)) + PIECE;

  if (!uncopied || chunk->host) return uncopied;
  return (piece_end < bytes ? piece_end : bytes) - done;
}

/* Descriptors of 64 KiB that `bytes` take. */
static uint64_t pieces_of(uint64_t bytes) {
  return bytes / PIECE + (bytes % PIECE != 0);
}

/* The same with the marker that ends each batch. */
static uint64_t descriptors_of(uint64_t bytes) {
  uint64_t pieces = pieces_of(bytes);

  return pieces + (pieces + BATCH_DESCS - 1) / BATCH_DESCS;
}

static long move(struct nds_call* call, const struct neuron_mem_buf_copy64* argument,
                 const struct nds_chunk* chunk, bool zero_copy, uint64_t* uncopied) {
  struct nds_space* space;
  uint64_t offset;

  if (!nds_chunk_covers(call->device, chunk, argument->offset, argument->size)) return -EINVAL;
  /* Only host chunks through a buffer are copied by the driver itself. */
  if ((!chunk->host || zero_copy) && nds_is_silent(call->device, NDS_SILENT_DMA)) return -EPERM;
  space = nds_chunk_space(call->device, chunk, &offset);
  offset += argument->offset;
  if (argument->copy_to_mem_handle)
    return nds_os_space_from_user(space, offset, argument->buffer_ptr, argument->size, uncopied);
  return nds_os_space_to_user(space, offset, argument->buffer_ptr, argument->size, uncopied);
}

static long buf_copy(struct nds_call* call, const struct neuron_mem_buf_copy64* argument,
                     bool zero_copy) {
  struct nds_chunk* chunk = nds_chunk_pin(call->device, argument->mem_handle);
  uint64_t uncopied = 0;
  long result;

  if (!chunk) return -EINVAL;
  result = move(call, argument, chunk, zero_copy, &uncopied);
  if (!result && uncopied && zero_copy)
    result = -ENOMEM; /* the user's pages could not be pinned */
  else if (!result)
    result = nds_fault(call, visible_residue(chunk, argument->size, uncopied));
  /* One descriptor and one marker for each bounce buffer full. */
  if (!result && !chunk->host && !zero_copy)
    nds_dma_count_copy(call->device, chunk->nc_id, 2 * pieces_of(argument->size));
  nds_chunk_unpin(call->device, chunk);
  return result;
}

long nds_mem_buf_copy(struct nds_call* call) {
  struct neuron_mem_buf_copy argument;
  struct neuron_mem_buf_copy64 wide = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  wide.mem_handle = argument.mem_handle;
  wide.buffer_ptr = argument.buffer_ptr;
  wide.size = argument.size;
  wide.offset = argument.offset;
  wide.copy_to_mem_handle = argument.copy_to_mem_handle;
  return buf_copy(call, &wide, false);
}

long nds_mem_buf_copy64(struct nds_call* call) {
  struct neuron_mem_buf_copy64 argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : buf_copy(call, &argument, false);
}

/* The forms of 2.27 and 2.30 are longer; queue and threshold choices change nothing here (06 12.2).
 */
long nds_mem_buf_zerocopy64(struct nds_call* call) {
  struct neuron_mem_buf_zerocopy64_v30 argument = {0};
  struct neuron_mem_buf_copy64 common;
  size_t bytes = NEURON_IOCTL_SIZE_OF(call->command);
  bool exact = call->device->config.generation != NDS_GENERATION_2_24;
  long result;

  /* 2.24 selects by number and always reads 40 bytes; later ones compare the full value. */
  if (!exact) bytes = sizeof common;
  if (exact && call->command != NEURON_IOCTL_MEM_BUF_ZEROCOPY64 &&
      call->command != NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V27 &&
      (call->command != NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V30 ||
       call->device->config.generation < NDS_GENERATION_2_30))
    return -EINVAL;
  result = nds_get(call, &argument, bytes);
  if (result) return result;
  memcpy(&common, &argument, sizeof common);
  return buf_copy(call, &common, true);
}

static bool ranges_overlap(uint64_t a, uint64_t b, uint64_t bytes) {
  return a < b ? b - a < bytes : a - b < bytes;
}

/* Descriptors of 64 KiB run in ascending order, which shows when the two ranges overlap. */
static int copy_space(struct nds_space* to, uint64_t to_offset, struct nds_space* from,
                      uint64_t from_offset, uint64_t bytes) {
  uint64_t done = 0;

  if (to != from || !ranges_overlap(to_offset, from_offset, bytes))
    return nds_os_space_copy(to, to_offset, from, from_offset, bytes);
  while (done < bytes) {
    uint64_t piece = bytes - done < PIECE ? bytes - done : PIECE;
    int error = nds_os_space_copy(to, to_offset + done, from, from_offset + done, piece);

    if (error) return error;
    done += piece;
  }
  return 0;
}

/* Both chunks are pinned. */
static long copy_chunks(struct nds_device* device, const struct neuron_mem_copy64* argument,
                        const struct nds_chunk* from, const struct nds_chunk* to, uint64_t limit) {
  struct nds_space *from_space, *to_space;
  uint64_t from_offset, to_offset;
  uint64_t bytes = argument->size < limit ? argument->size : limit;

  if (!from || !to) return -EINVAL;
  if (!nds_chunk_covers(device, from, argument->src_offset, argument->size)) return -EINVAL;
  if (!nds_chunk_covers(device, to, argument->dst_offset, argument->size)) return -EINVAL;
  if (nds_is_silent(device, NDS_SILENT_DMA)) return -EPERM;
  from_space = nds_chunk_space(device, from, &from_offset);
  to_space = nds_chunk_space(device, to, &to_offset);
  return copy_space(to_space, to_offset + argument->dst_offset, from_space,
                    from_offset + argument->src_offset, bytes);
}

long nds_copy_between(struct nds_device* device, const struct neuron_mem_copy64* argument,
                      uint64_t limit) {
  struct nds_chunk* from = nds_chunk_pin(device, argument->src_mem_handle);
  struct nds_chunk* to = nds_chunk_pin(device, argument->dst_mem_handle);
  long result = copy_chunks(device, argument, from, to, limit);

  /* The device side's core serves the copy, the destination's first. */
  if (!result)
    nds_dma_count_copy(device, to->host && !from->host ? from->nc_id : to->nc_id,
                       descriptors_of(argument->size < limit ? argument->size : limit));
  if (from) nds_chunk_unpin(device, from);
  if (to) nds_chunk_unpin(device, to);
  return result;
}

long nds_mem_copy(struct nds_call* call) {
  struct neuron_mem_copy argument;
  struct neuron_mem_copy64 wide;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  wide.src_mem_handle = argument.src_mem_handle;
  wide.dst_mem_handle = argument.dst_mem_handle;
  wide.size = argument.size;
  wide.src_offset = argument.src_offset;
  wide.dst_offset = argument.dst_offset;
  return nds_copy_between(call->device, &wide, ~0ull);
}

long nds_mem_copy64(struct nds_call* call) {
  struct neuron_mem_copy64 argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : nds_copy_between(call->device, &argument, ~0ull);
}

/* Sequence and context only matter to asynchronous completion, and every copy is complete here. */
long nds_mem_copy64_v30(struct nds_call* call) {
  struct neuron_mem_copy64_v30 argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : nds_copy_between(call->device, &argument.copy, ~0ull);
}

static long fill(struct nds_device* device, const struct neuron_memset64* argument) {
  struct nds_chunk* chunk = nds_chunk_pin(device, argument->mem_handle);
  struct nds_space* space;
  uint64_t offset;
  long result = -EINVAL;

  if (!chunk) return -EINVAL;
  if (nds_chunk_covers(device, chunk, argument->offset, argument->size)) {
    if (nds_is_silent(device, NDS_SILENT_DMA)) {
      nds_chunk_unpin(device, chunk);
      return -EPERM;
    }
    space = nds_chunk_space(device, chunk, &offset);
    result = nds_os_space_fill(space, offset + argument->offset, (uint8_t)argument->value,
                               argument->size);
    /* The first piece comes from the host, the rest is replicated from it. */
    if (!result && argument->size)
      nds_dma_count_copy(device, chunk->nc_id,
                         descriptors_of(argument->size < PIECE ? argument->size : PIECE) +
                             descriptors_of(argument->size < PIECE ? 0 : argument->size - PIECE));
  }
  nds_chunk_unpin(device, chunk);
  return result;
}

long nds_memset(struct nds_call* call) {
  struct neuron_memset argument;
  struct neuron_memset64 wide = {0};
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  wide.mem_handle = argument.mem_handle;
  wide.offset = argument.offset;
  wide.value = argument.value;
  wide.size = argument.size;
  return fill(call->device, &wide);
}

long nds_memset64(struct nds_call* call) {
  struct neuron_memset64 argument;
  long result = nds_get(call, &argument, sizeof argument);

  return result ? result : fill(call->device, &argument);
}
