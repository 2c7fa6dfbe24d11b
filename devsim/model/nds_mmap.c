/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* mmap lookup (spec 06 section 6). */
#include "nds_internal.h"

/* Type 19 may be mapped up to the end of the main pool, everything else only as a whole. */
static bool length_fits(const struct nds_device* device, const struct nds_chunk* chunk,
                        uint64_t bytes) {
  uint64_t limit;

  if (chunk->host || chunk->mem_type != NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE)
    return bytes == chunk->bytes;
  limit = nds_pool_end(&device->hbm[chunk->hbm].main) - chunk->pa;
  return bytes > 0 && bytes <= limit;
}

/*
 * Any device address, for those with the right. What an address outside the HBMs shows is undefined
 * in the real driver (11 B.1); here it is the start of HBM 0, the firmware's (ours).
 */
static int map_raw(const struct nds_device* device, uint64_t offset, uint64_t bytes,
                   struct nds_mapping* out) {
  uint32_t index;

  if (!nds_os_may_map_raw()) return -EPERM;
  out->bytes = bytes;
  out->read_only = false;
  for (index = 0; index < device->profile->hbm_count; index++) {
    const struct nds_hbm* hbm = &device->hbm[index];
    uint64_t inside = offset - hbm->base;

    if (inside >= hbm->bytes || bytes > hbm->bytes - inside) continue;
    out->space = hbm->space;
    out->offset = inside;
    return 0;
  }
  if (bytes > device->hbm[0].bytes) return -EINVAL;
  out->space = device->hbm[0].space;
  out->offset = 0;
  return 0;
}

int nds_file_mmap(struct nds_file* file, int32_t tgid, uint64_t offset, uint64_t bytes,
                  struct nds_mapping* out) {
  struct nds_device* device = file->device;
  const struct nds_chunk* chunk;
  struct nds_resource resource;
  int error;

  /* The VFS refuses write-only files. */
  if (file->free_access) return -EACCES;
  nds_mutex_lock(&device->lock);
  chunk = nds_chunk_at(&device->chunks, offset);
  if (chunk && length_fits(device, chunk, bytes)) {
    /* The mapping starts at the chunk's start, wherever the offset points. */
    out->space = nds_chunk_space(device, chunk, &out->offset);
    out->bytes = bytes;
    out->read_only = chunk->lifespan != NDS_LIFE_DEVICE && chunk->tgid != tgid;
    error = 0;
  } else if (nds_resource_at(device, offset, bytes, &resource)) {
    out->space = resource.space;
    out->offset = resource.space_offset;
    out->bytes = bytes;
    out->read_only = resource.read_only;
    error = 0;
  } else {
    error = map_raw(device, offset, bytes, out);
  }
  nds_mutex_unlock(&device->lock);
  return error;
}
