/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_dma.h"

#include "nds_internal.h"

/* The ring a dying process's queues are parked on (spec 06 section 2, flush). */
#define DUMMY_RING_BUS 0x1000ull
#define DUMMY_RING_DESCS 64u

/* The driver's copy queues lie in host memory of its own (06 4.7). */
#define COPY_RING_BUS 0x100000ull
#define COPY_RING_DESCS 8192u
#define COPY_RING_BYTES (COPY_RING_DESCS * NEURON_UDMA_DESC_SIZE)

void nds_dma_lock(struct nds_device* device) {
  __atomic_add_fetch(&device->dma.waiters, 1, __ATOMIC_RELAXED);
  nds_mutex_lock(&device->dma.lock);
  __atomic_sub_fetch(&device->dma.waiters, 1, __ATOMIC_RELAXED);
}

void nds_dma_unlock(struct nds_device* device) {
  nds_mutex_unlock(&device->dma.lock);
}

/* How often to look whether those who waited have the lock, before wanting it back. */
#define GIVE_WAY_LOOKS 1000u

static bool somebody_waits(const struct nds_device* device) {
  return __atomic_load_n(&device->dma.waiters, __ATOMIC_RELAXED);
}

void nds_dma_give_way(struct nds_device* device) {
  uint32_t look;

  if (!somebody_waits(device)) return;
  nds_mutex_unlock(&device->dma.lock);
  for (look = 0; look < GIVE_WAY_LOOKS && somebody_waits(device); look++) nds_os_give_way();
  nds_mutex_lock(&device->dma.lock);
}

static struct nds_queue* copy_queue(struct nds_device* device, uint32_t core) {
  uint32_t first = device->profile->first_copy_engine;

  if (nds_is_v2(device)) return nds_dma_queue(device, first + (core != 0), 0);
  return nds_dma_queue(device, first + core / 2, core % 2);
}

static void init_copy_queue(struct nds_device* device, uint32_t core) {
  struct nds_queue* queue = copy_queue(device, core);
  uint64_t bus = COPY_RING_BUS + core * 2ull * COPY_RING_BYTES;

  memset(queue, 0, sizeof *queue);
  queue->tx.base = device->profile->host_base | bus;
  queue->rx.base = queue->tx.base + COPY_RING_BYTES;
  queue->tx.length = COPY_RING_DESCS;
  queue->rx.length = COPY_RING_DESCS;
}

static void advance(struct nds_ring* ring, uint64_t descriptors) {
  /* The ring may be a client's by now, or none. */
  if (!ring->length) return;
  ring->head = (uint32_t)((ring->head + descriptors) % ring->length);
  ring->tail = ring->head;
}

void nds_dma_count_copy(struct nds_device* device, uint32_t nc_id, uint64_t descriptors) {
  struct nds_queue* queue = copy_queue(device, nc_id);

  nds_dma_lock(device);
  advance(&queue->tx, descriptors);
  advance(&queue->rx, descriptors);
  nds_dma_unlock(device);
}

void nds_dma_clear_core(struct nds_device* device, uint32_t core) {
  uint32_t first = core * NEURON_DMA_ENGINES_PER_CORE;
  uint32_t engine;

  for (engine = first; engine < first + NEURON_DMA_ENGINES_PER_CORE; engine++) {
    memset(&device->dma.engines[engine], 0, sizeof device->dma.engines[engine]);
    device->dma.engines[engine].state = NEURON_DMA_ENG_IDLE;
  }
  memset(copy_queue(device, core), 0, sizeof(struct nds_queue));
}

void nds_dma_reset_core(struct nds_device* device, uint32_t core) {
  nds_dma_clear_core(device, core);
  init_copy_queue(device, core);
}

void nds_dma_drop_work(struct nds_device* device) {
  uint32_t engine, index;

  for (engine = 0; engine < device->profile->dma_engines; engine++) {
    for (index = 0; index < NEURON_MAX_DMA_QUEUES; index++) {
      struct nds_queue* queue = &device->dma.engines[engine].queue[index];

      nds_ring_skip(&queue->tx);
      nds_ring_skip(&queue->rx);
    }
  }
}

int nds_dma_init(struct nds_device* device) {
  uint32_t engine, core;

  device->dma.engines = nds_os_alloc(device->profile->dma_engines * sizeof *device->dma.engines);
  device->dma.scratch = nds_os_alloc(NDS_CAST_BYTES);
  if (!device->dma.engines || !device->dma.scratch) return -ENOMEM;
  for (engine = 0; engine < device->profile->dma_engines; engine++)
    device->dma.engines[engine].state = NEURON_DMA_ENG_IDLE;
  for (core = 0; core < device->profile->cores; core++) init_copy_queue(device, core);
  return 0;
}

void nds_dma_destroy(struct nds_device* device) {
  nds_os_free(device->dma.engines);
  nds_os_free(device->dma.scratch);
}

struct nds_queue* nds_dma_queue(struct nds_device* device, uint32_t engine, uint32_t queue) {
  if (engine >= device->profile->dma_engines || queue >= NEURON_MAX_DMA_QUEUES) return NULL;
  return &device->dma.engines[engine].queue[queue];
}

struct nds_queue* nds_dma_queue_at(struct nds_device* device, uint32_t index) {
  return nds_dma_queue(device, index / NEURON_MAX_DMA_QUEUES, index % NEURON_MAX_DMA_QUEUES);
}

/* Instruction-fetch rings survive their process (06 4.7). */
static bool is_fetch_queue(const struct nds_device* device, uint32_t engine, uint32_t queue) {
  uint32_t k = engine % NEURON_DMA_ENGINES_PER_CORE;

  if (queue != 14 || engine >= device->profile->first_copy_engine) return false;
  if (nds_is_v2(device)) return k < 11;
  return k < 5 || k == 7 || k == 8;
}

bool nds_dma_is_driver_queue(const struct nds_device* device, uint32_t engine, uint32_t queue) {
  uint32_t queues = nds_is_v2(device) ? 1 : 2;

  return engine >= device->profile->first_copy_engine && queue < queues;
}

static void park(struct nds_device* device, struct nds_ring* ring) {
  memset(ring, 0, sizeof *ring);
  ring->base = device->profile->host_base | DUMMY_RING_BUS;
  ring->length = DUMMY_RING_DESCS;
}

void nds_dma_drop_process(struct nds_device* device, int32_t tgid) {
  uint32_t engine, index;

  nds_dma_lock(device);
  for (engine = 0; engine < device->profile->dma_engines; engine++) {
    for (index = 0; index < NEURON_MAX_DMA_QUEUES; index++) {
      struct nds_queue* queue = &device->dma.engines[engine].queue[index];

      if (queue->owner != tgid) continue;
      queue->owner = 0;
      if (is_fetch_queue(device, engine, index) || nds_dma_is_driver_queue(device, engine, index))
        continue;
      park(device, &queue->tx);
      park(device, &queue->rx);
    }
  }
  nds_dma_unlock(device);
}

bool nds_ring_chunk_lives(struct nds_device* device, const struct nds_ring* ring) {
  const struct nds_chunk* chunk;

  if (!ring->chunk_sequence) return false;
  chunk = nds_chunk_at(&device->chunks, ring->chunk_pa);
  return chunk && chunk->sequence == ring->chunk_sequence;
}
