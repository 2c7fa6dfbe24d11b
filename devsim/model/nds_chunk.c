/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_chunk.h"

#include "nds_internal.h"
#include "nds_tree.h"

#define MAX_REQUEST 0x7FFFFFFFFFFFFFFFull
#define MAX_ALIGN 0x7FFFFFFFull
/* Contiguous host memory of 1 GiB is more than the kernel's page allocator gives (11 A.7). */
#define MAX_HOST_CHUNK 0x3FFFFFFFull

static void link_chunk(struct nds_device* device, struct nds_chunk* chunk) {
  struct nds_chunk_index* index = &device->chunks;

  chunk->sequence = ++index->next_sequence;
  chunk->older = index->newest;
  chunk->newer = NULL;
  if (index->newest)
    index->newest->newer = chunk;
  else
    index->oldest = chunk;
  index->newest = chunk;
  nds_tree_insert(&index->root, chunk);
  nds_facts_charge(device, chunk);
}

static void unlink_chunk(struct nds_device* device, struct nds_chunk* chunk) {
  struct nds_chunk_index* index = &device->chunks;

  if (chunk->older)
    chunk->older->newer = chunk->newer;
  else
    index->oldest = chunk->newer;
  if (chunk->newer)
    chunk->newer->older = chunk->older;
  else
    index->newest = chunk->older;
  nds_tree_remove(&index->root, chunk);
  nds_facts_discharge(device, chunk);
}

static int place_host(struct nds_device* device, const struct nds_alloc_request* request,
                      struct nds_chunk* chunk) {
  uint64_t bus;

  if (request->align) return -EINVAL;
  if (chunk->bytes > MAX_HOST_CHUNK) return -ENOMEM;
  bus = nds_pool_take(&device->host_pool, chunk->bytes, device->config.page_bytes);
  if (bus == NDS_POOL_NO_SPACE) return -ENOMEM;
  chunk->pa = bus | device->profile->host_base;
  return 0;
}

/* Contiguous scratchpad: right below the type-19 chunks that live already (06 5.1 item 7). */
static int place_contiguous(struct nds_hbm* hbm, struct nds_chunk* chunk) {
  uint64_t bytes = nds_pool_bytes(&hbm->main);

  if (hbm->contiguous_bytes > bytes || chunk->bytes > bytes - hbm->contiguous_bytes) return -ENOMEM;
  chunk->pa = nds_pool_end(&hbm->main) - hbm->contiguous_bytes - chunk->bytes;
  if (!nds_pool_take_at(&hbm->main, chunk->pa, chunk->bytes)) return -ENOMEM;
  hbm->contiguous_bytes += chunk->bytes;
  return 0;
}

static struct nds_pool* pool_of(struct nds_hbm* hbm, uint64_t pa) {
  return nds_pool_contains(&hbm->main, pa) ? &hbm->main : &hbm->small;
}

static int place_in_hbm(struct nds_hbm* hbm, uint64_t align, struct nds_chunk* chunk) {
  bool small = chunk->bytes <= NEURON_SMALL_ALLOC_MAX;
  struct nds_pool* first = small ? &hbm->small : &hbm->main;
  struct nds_pool* alternate = small ? &hbm->main : &hbm->small;

  if (align > NEURON_PAGE_SIZE && align > MAX_ALIGN) return -EINVAL;
  chunk->pa = nds_pool_take(first, chunk->bytes, align);
  if (chunk->pa == NDS_POOL_NO_SPACE) chunk->pa = nds_pool_take(alternate, chunk->bytes, align);
  if (chunk->pa == NDS_POOL_NO_SPACE) return -ENOMEM;
  if (align > NEURON_PAGE_SIZE && ((align - 1) & chunk->pa)) {
    nds_pool_give(pool_of(hbm, chunk->pa), chunk->pa, chunk->bytes);
    return -ENOMEM;
  }
  return 0;
}

static int place(struct nds_device* device, const struct nds_alloc_request* request,
                 struct nds_chunk* chunk) {
  struct nds_hbm* hbm = &device->hbm[request->dram_channel];

  if (request->host) return place_host(device, request, chunk);
  if (request->mem_type == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE)
    return place_contiguous(hbm, chunk);
  return place_in_hbm(hbm, request->align, chunk);
}

/* Gives the memory back; the chunk is in no list any more. */
static void release(struct nds_device* device, struct nds_chunk* chunk) {
  struct nds_hbm* hbm = &device->hbm[chunk->hbm];

  if (chunk->host) {
    uint64_t bus = chunk->pa & ~device->profile->host_base;

    /* Adopted chunks never came from the pool. */
    if (nds_pool_contains(&device->host_pool, bus))
      nds_pool_give(&device->host_pool, bus, chunk->bytes);
  } else {
    nds_pool_give(pool_of(hbm, chunk->pa), chunk->pa, chunk->bytes);
    if (chunk->mem_type == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE)
      hbm->contiguous_bytes -= chunk->bytes;
  }
  nds_os_free(chunk);
}

static uint64_t* live_bytes(struct nds_device* device, const struct nds_chunk* chunk) {
  return chunk->host ? &device->counters.live_host_bytes : &device->counters.live_device_bytes;
}

int nds_chunk_alloc(struct nds_device* device, const struct nds_alloc_request* request,
                    struct nds_chunk** out) {
  struct nds_chunk* chunk;
  uint64_t page;
  int error;

  if (request->bytes > MAX_REQUEST) return -EINVAL;
  if (request->dram_channel >= device->profile->hbm_count) return -EINVAL;
  if (request->nc_id >= NEURON_MAX_CORES_PER_DEVICE) return -EINVAL;
  chunk = nds_os_alloc(sizeof *chunk);
  if (!chunk) return -ENOMEM;
  /* Host memory comes from the kernel, in its pages; that of the device in the pools' (06 5.2). */
  page = request->host ? device->config.page_bytes : NEURON_PAGE_SIZE;
  chunk->bytes = (request->bytes + page - 1) & ~(page - 1);
  chunk->host = request->host;
  chunk->hbm = request->dram_channel;
  chunk->nc_id = request->nc_id;
  chunk->mem_type = request->mem_type;
  chunk->tgid = request->tgid;
  chunk->lifespan = request->lifespan;
  error = place(device, request, chunk);
  if (error) {
    nds_os_free(chunk);
    return error;
  }
  link_chunk(device, chunk);
  if (chunk->lifespan != NDS_LIFE_DEVICE) *live_bytes(device, chunk) += chunk->bytes;
  *out = chunk;
  return 0;
}

int nds_chunk_adopt(struct nds_device* device, uint64_t pa, uint64_t bytes) {
  struct nds_chunk* chunk = nds_os_alloc(sizeof *chunk);

  if (!chunk) return -ENOMEM;
  chunk->pa = pa;
  chunk->bytes = bytes;
  chunk->host = true;
  chunk->mem_type = NEURON_MEM_NCDEV_HOST;
  chunk->lifespan = NDS_LIFE_DEVICE;
  link_chunk(device, chunk);
  return 0;
}

void nds_chunk_free(struct nds_device* device, struct nds_chunk* chunk) {
  nds_handle_drop(&device->handles, chunk);
  unlink_chunk(device, chunk);
  if (chunk->lifespan != NDS_LIFE_DEVICE) *live_bytes(device, chunk) -= chunk->bytes;
  if (chunk->pins)
    chunk->dead = true;
  else
    release(device, chunk);
}

void nds_chunk_free_all(struct nds_device* device, enum nds_lifespan lifespan, int32_t tgid) {
  struct nds_chunk* chunk = device->chunks.newest;

  while (chunk) {
    struct nds_chunk* older = chunk->older;

    if (chunk->lifespan == lifespan && (!tgid || chunk->tgid == tgid))
      nds_chunk_free(device, chunk);
    (void)nds_os_yield();
    chunk = older;
  }
}

/* Zeroes what lies between the chunks of [from, end). The space begins at address `base`. */
static void clear_gaps(struct nds_device* device, struct nds_space* space, uint64_t base,
                       uint64_t from, uint64_t end) {
  while (from < end) {
    const struct nds_chunk* chunk = nds_chunk_from(&device->chunks, from);
    uint64_t stop = chunk && chunk->pa < end ? chunk->pa : end;

    if (stop > from) (void)nds_os_space_fill(space, from - base, 0, stop - from);
    from = stop < end ? stop + chunk->bytes : end;
  }
}

void nds_chunk_forget_free(struct nds_device* device) {
  uint64_t host = device->profile->host_base;
  uint32_t index;

  for (index = 0; index < device->profile->hbm_count; index++) {
    const struct nds_hbm* hbm = &device->hbm[index];

    clear_gaps(device, hbm->space, hbm->base, hbm->base, hbm->base + hbm->bytes);
  }
  clear_gaps(device, device->host_space, host, host + device->host_pool.base,
             host + nds_pool_end(&device->host_pool));
}

struct nds_chunk* nds_chunk_at(const struct nds_chunk_index* index, uint64_t pa) {
  struct nds_chunk* chunk = nds_tree_floor(index->root, pa);

  return chunk && pa - chunk->pa < chunk->bytes ? chunk : NULL;
}

struct nds_chunk* nds_chunk_from(const struct nds_chunk_index* index, uint64_t pa) {
  return nds_tree_ceiling(index->root, pa);
}

struct nds_chunk* nds_chunk_pin(struct nds_device* device, uint64_t handle) {
  struct nds_chunk* chunk;

  nds_mutex_lock(&device->lock);
  chunk = nds_handle_find(&device->handles, handle);
  if (chunk) chunk->pins++;
  nds_mutex_unlock(&device->lock);
  return chunk;
}

void nds_chunk_unpin(struct nds_device* device, struct nds_chunk* chunk) {
  nds_mutex_lock(&device->lock);
  if (!--chunk->pins && chunk->dead) release(device, chunk);
  nds_mutex_unlock(&device->lock);
}

struct nds_space* nds_chunk_space(const struct nds_device* device, const struct nds_chunk* chunk,
                                  uint64_t* offset) {
  const struct nds_hbm* hbm = &device->hbm[chunk->hbm];

  *offset = chunk->pa - (chunk->host ? device->profile->host_base : hbm->base);
  return chunk->host ? device->host_space : hbm->space;
}

bool nds_chunk_covers(const struct nds_device* device, const struct nds_chunk* chunk,
                      uint64_t offset, uint64_t bytes) {
  uint64_t limit = chunk->bytes;

  /*
   * One handle addresses the whole contiguous scratchpad up to the end of the main pool. The
   * real driver's sum wraps and then writes into neighbours; ours never does (06 12.5).
   */
  if (!chunk->host && chunk->mem_type == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE)
    limit = nds_pool_end(&device->hbm[chunk->hbm].main) - chunk->pa;
  return offset <= limit && bytes <= limit - offset;
}
