/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_dma.h"

#include "nds_internal.h"

/* The ring a dying process's queues are parked on (spec 06 section 2, flush). */
#define DUMMY_RING_BUS 0x1000ull
#define DUMMY_RING_DESCS 64u

int nds_dma_init(struct nds_device* device) {
  device->dma.engines = nds_os_alloc(device->profile->dma_engines * sizeof *device->dma.engines);
  if (!device->dma.engines) return -ENOMEM;
  nds_mutex_init(&device->dma.lock);
  return 0;
}

void nds_dma_destroy(struct nds_device* device) {
  if (!device->dma.engines) return;
  nds_os_free(device->dma.engines);
  nds_mutex_destroy(&device->dma.lock);
}

struct nds_queue* nds_dma_queue(struct nds_device* device, uint32_t engine, uint32_t queue) {
  if (engine >= device->profile->dma_engines || queue >= NEURON_MAX_DMA_QUEUES) return NULL;
  return &device->dma.engines[engine].queue[queue];
}

/* Instruction-fetch rings survive their process (06 4.7). */
static bool is_fetch_queue(const struct nds_device* device, uint32_t engine, uint32_t queue) {
  uint32_t k = engine % NEURON_DMA_ENGINES_PER_CORE;

  if (queue != 14 || engine >= device->profile->first_copy_engine) return false;
  if (device->profile->architecture == NEURON_ARCH_V2) return k < 11;
  return k < 5 || k == 7 || k == 8;
}

bool nds_dma_is_driver_queue(const struct nds_device* device, uint32_t engine, uint32_t queue) {
  uint32_t queues = device->profile->architecture == NEURON_ARCH_V2 ? 1 : 2;

  return engine >= device->profile->first_copy_engine && queue < queues;
}

static void park(struct nds_device* device, struct nds_ring* ring) {
  memset(ring, 0, sizeof *ring);
  ring->base = device->profile->host_base | DUMMY_RING_BUS;
  ring->length = DUMMY_RING_DESCS;
}

void nds_dma_drop_process(struct nds_device* device, int32_t tgid) {
  uint32_t engine, index;

  nds_mutex_lock(&device->dma.lock);
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
  nds_mutex_unlock(&device->dma.lock);
}

bool nds_ring_chunk_lives(struct nds_device* device, const struct nds_ring* ring) {
  const struct nds_chunk* chunk;

  if (!ring->chunk_sequence) return false;
  chunk = nds_chunk_at(&device->chunks, ring->chunk_pa);
  return chunk && chunk->sequence == ring->chunk_sequence;
}
