/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Running descriptors (spec 06 section 12.12): a doorbell makes descriptors pending, and while both
 * halves of a queue have some, bytes stream from TX to RX in ring order. A descriptor may write a
 * doorbell or a semaphore; queues that become runnable that way run too, before the call returns.
 */
#include "nds_internal.h"

/*
 * Rings can ring themselves and each other. One call may spend this much, then the queue is
 * aborted, so that hostile rings cannot hang the caller: a unit for each descriptor and for each 4
 * KiB, which allows a full ring of the largest size or 64 GiB, and some for each look through all
 * queues.
 */
#define BUDGET 0x1000000u
#define LOOK_COST 64u

struct descriptor {
  uint32_t len_ctrl;
  uint32_t word1; /* meta_ctrl of TX */
  uint64_t pa;
};

static int fetch(struct nds_device* device, const struct nds_ring* ring, struct descriptor* out) {
  struct neuron_udma_tx_desc raw;
  uint64_t place = ring->base + (uint64_t)ring->head * NEURON_UDMA_DESC_SIZE;
  int error = nds_bus_read(device, place, &raw, sizeof raw);

  out->len_ctrl = raw.len_ctrl;
  out->word1 = raw.meta_ctrl;
  out->pa = raw.buf_ptr;
  return error;
}

static void retire(struct nds_ring* ring) {
  ring->head = (ring->head + 1) % ring->length;
  ring->pending--;
  ring->progress = 0;
}

/* Accounts for bytes of the descriptor at head, which ends with them or does not. */
static void advance(struct nds_ring* ring, uint32_t restarts, uint32_t bytes, bool ends) {
  /* What it wrote has restarted the ring, maybe with another length: there is no such head now. */
  if (ring->restarts != restarts) return;
  ring->progress += bytes;
  if (ends) retire(ring);
}

static void spend(uint32_t* budget, uint32_t units) {
  *budget -= units < *budget ? units : *budget;
}

static bool is_cast(const struct descriptor* tx) {
  return (tx->word1 & NEURON_UDMA_META_OP_MASK) >> NEURON_UDMA_META_OP_SHIFT ==
         NEURON_UDMA_META_OP_CAST;
}

/* One descriptor pair, or the part of it that the shorter side allows. */
static int step(struct nds_device* device, struct nds_queue* queue, uint32_t* budget) {
  struct descriptor tx, rx;
  uint32_t tx_restarts = queue->tx.restarts;
  uint32_t rx_restarts = queue->rx.restarts;
  uint32_t tx_bytes, rx_bytes, bytes;
  int error = fetch(device, &queue->tx, &tx);

  if (!error) error = fetch(device, &queue->rx, &rx);
  if (error) return error;
  tx_bytes = neuron_udma_length(tx.len_ctrl);
  rx_bytes = neuron_udma_length(rx.len_ctrl);
  if (is_cast(&tx)) {
    error = nds_cast(device, tx.word1, tx.pa, tx_bytes, rx.pa, rx_bytes);
    if (error) return error;
    spend(budget, 1 + tx_bytes / NEURON_PAGE_SIZE);
    advance(&queue->tx, tx_restarts, 0, true);
    advance(&queue->rx, rx_restarts, 0, true);
    return 0;
  }
  if (queue->tx.progress >= tx_bytes || queue->rx.progress >= rx_bytes) return -EFAULT;
  tx_bytes -= queue->tx.progress;
  rx_bytes -= queue->rx.progress;
  bytes = tx_bytes < rx_bytes ? tx_bytes : rx_bytes;
  error = nds_bus_copy(device, rx.pa + queue->rx.progress, tx.pa + queue->tx.progress, bytes);
  if (error) return error;
  spend(budget, 1 + bytes / NEURON_PAGE_SIZE);
  advance(&queue->tx, tx_restarts, bytes, bytes == tx_bytes);
  advance(&queue->rx, rx_restarts, bytes, bytes == rx_bytes);
  return 0;
}

static bool can_run(const struct nds_queue* queue) {
  return queue->tx.pending && queue->rx.pending && queue->tx.length && queue->rx.length;
}

static void abort_engine(struct nds_device* device, uint32_t engine, const char* why) {
  device->dma.engines[engine].state = NEURON_DMA_ENG_ABORT;
  nds_os_log("DMA engine %u aborted: %s", engine, why);
}

static void run_queue(struct nds_device* device, uint32_t engine, struct nds_queue* queue,
                      uint32_t* budget) {
  while (can_run(queue) && device->dma.engines[engine].state != NEURON_DMA_ENG_ABORT) {
    int error = step(device, queue, budget);

    if (error) {
      abort_engine(device, engine,
                   error == -EFAULT ? "a descriptor names no memory or register" : "no memory");
      return;
    }
    if (!*budget) {
      abort_engine(device, engine, "too much work for one doorbell");
      return;
    }
    if (nds_os_yield()) {
      abort_engine(device, engine, "the process was killed");
      return;
    }
  }
}

void nds_dma_run(struct nds_device* device) {
  uint32_t budget = BUDGET;
  uint32_t engine, index;

  if (nds_is_silent(device, NDS_SILENT_DMA)) return;
  while (device->dma.rung && budget) {
    device->dma.rung = false;
    spend(&budget, LOOK_COST);
    for (engine = 0; budget && engine < device->profile->dma_engines; engine++)
      for (index = 0; budget && index < NEURON_MAX_DMA_QUEUES; index++)
        run_queue(device, engine, &device->dma.engines[engine].queue[index], &budget);
  }
  device->dma.rung = false;
}

void nds_ring_add(struct nds_device* device, struct nds_ring* ring, uint32_t count) {
  if (!ring->length) return;
  ring->tail = (uint32_t)(((uint64_t)ring->tail + count) % ring->length);
  ring->pending = count > ~0u - ring->pending ? ~0u : ring->pending + count;
  device->dma.rung = true;
}

void nds_ring_restart(struct nds_ring* ring) {
  ring->head = 0;
  ring->tail = 0;
  ring->pending = 0;
  ring->progress = 0;
  ring->restarts++;
}
