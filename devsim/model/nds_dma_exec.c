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

/* Pairs of one queue among which a test may choose, see NDS_SCHEDULE_NO_FIFO. */
#define ANY_ORDER_PAIRS 64u

/* A run of descriptors: what it may still spend, and whether it is a part of an execution. */
struct run {
  uint32_t budget;
  bool in_execution;
  bool killed;
};

struct descriptor {
  uint32_t len_ctrl;
  uint32_t word1; /* meta_ctrl of TX */
  uint64_t pa;
};

static int fetch(struct nds_device* device, const struct nds_ring* ring, uint32_t ahead,
                 struct descriptor* out) {
  struct neuron_udma_tx_desc raw;
  uint64_t slot = ((uint64_t)ring->head + ahead) % ring->length;
  int error = nds_bus_read(device, ring->base + slot * NEURON_UDMA_DESC_SIZE, &raw, sizeof raw);

  out->len_ctrl = raw.len_ctrl;
  out->word1 = raw.meta_ctrl;
  out->pa = raw.buf_ptr;
  return error;
}

static void retire(struct nds_ring* ring) {
  if (++ring->head >= ring->length) {
    ring->head = 0;
    ring->laps++;
  }
  if (ring->pending) ring->pending--;
  ring->progress = 0;
}

/* Accounts for bytes of the descriptor at head, which ends with them or does not. */
static void advance(struct nds_ring* ring, uint32_t restarts, uint32_t bytes, bool ends) {
  /* What it wrote has restarted the ring, maybe with another length: there is no such head now. */
  if (ring->restarts != restarts) return;
  ring->progress += bytes;
  if (ends) retire(ring);
}

static void spend(struct run* run, uint32_t units) {
  run->budget -= units < run->budget ? units : run->budget;
}

static bool is_cast(const struct descriptor* tx) {
  return (tx->word1 & NEURON_UDMA_META_OP_MASK) >> NEURON_UDMA_META_OP_SHIFT ==
         NEURON_UDMA_META_OP_CAST;
}

static int cast(struct nds_device* device, const struct descriptor* tx,
                const struct descriptor* rx) {
  struct nds_cast_side from = {
      .pa = tx->pa,
      .bytes = neuron_udma_length(tx->len_ctrl),
      .dtype = tx->word1 >> NEURON_UDMA_CAST_SRC_SHIFT & NEURON_UDMA_CAST_DTYPE_MASK,
  };
  struct nds_cast_side to = {
      .pa = rx->pa,
      .bytes = neuron_udma_length(rx->len_ctrl),
      .dtype = tx->word1 >> NEURON_UDMA_CAST_DST_SHIFT & NEURON_UDMA_CAST_DTYPE_MASK,
  };

  return nds_cast(device, &from, &to);
}

/* One descriptor pair, or the part of it that the shorter side allows. *moved = bytes of TX. */
static int step(struct nds_device* device, struct nds_queue* queue, uint32_t* moved) {
  struct descriptor tx, rx;
  uint32_t tx_restarts = queue->tx.restarts;
  uint32_t rx_restarts = queue->rx.restarts;
  uint32_t tx_bytes, rx_bytes, bytes;
  int error = fetch(device, &queue->tx, 0, &tx);

  *moved = 0;
  if (!error) error = fetch(device, &queue->rx, 0, &rx);
  if (error) return error;
  tx_bytes = neuron_udma_length(tx.len_ctrl);
  rx_bytes = neuron_udma_length(rx.len_ctrl);
  if (is_cast(&tx)) {
    error = cast(device, &tx, &rx);
    if (error) return error;
    *moved = tx_bytes;
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
  *moved = bytes;
  advance(&queue->tx, tx_restarts, bytes, bytes == tx_bytes);
  advance(&queue->rx, rx_restarts, bytes, bytes == rx_bytes);
  return 0;
}

/* step, told to whoever observes. */
static int observed_step(struct nds_device* device, uint32_t index, struct run* run) {
  uint64_t begin = nds_exec_begin_observing(device);
  uint32_t bytes;
  int error = step(device, nds_dma_queue_at(device, index), &bytes);

  if (error) return error;
  spend(run, 1 + bytes / NEURON_PAGE_SIZE);
  nds_exec_observe_ring(device, index, bytes, begin);
  return 0;
}

static bool can_run(const struct nds_queue* queue) {
  return queue->tx.pending && queue->rx.pending && queue->tx.length && queue->rx.length;
}

static void abort_queue(struct nds_device* device, uint32_t index, int error, const char* why) {
  uint32_t engine = index / NEURON_MAX_DMA_QUEUES;

  device->dma.engines[engine].state = NEURON_DMA_ENG_ABORT;
  nds_os_log("DMA engine %u aborted at queue %u: %s", engine, index % NEURON_MAX_DMA_QUEUES, why);
  nds_exec_ring_failed(device, index, error);
}

static void abort_after(struct nds_device* device, uint32_t index, int error) {
  abort_queue(device, index, error,
              error == -EFAULT ? "a descriptor names no memory or register" : "no memory");
}

static void run_queue(struct nds_device* device, uint32_t index, struct run* run) {
  struct nds_engine* engine = &device->dma.engines[index / NEURON_MAX_DMA_QUEUES];
  const struct nds_queue* queue = &engine->queue[index % NEURON_MAX_DMA_QUEUES];

  while (can_run(queue) && engine->state != NEURON_DMA_ENG_ABORT) {
    int error = observed_step(device, index, run);

    if (error) {
      abort_after(device, index, error);
      return;
    }
    if (!run->budget) {
      abort_queue(device, index, -E2BIG, "too much work for one doorbell");
      return;
    }
    run->killed = nds_os_yield();
    if (run->killed && run->in_execution) return; /* somebody else may go on with it */
    if (run->killed) {
      abort_queue(device, index, -EINTR, "the process was killed");
      return;
    }
    if (run->in_execution) nds_dma_give_way(device);
  }
}

static void forget_waiting(struct nds_device* device, uint32_t index) {
  device->dma.waiting[index / 64] &= ~(1ull << index % 64);
}

bool nds_dma_next_waiting(const struct nds_device* device, uint32_t from, uint32_t* index) {
  uint32_t words = sizeof device->dma.waiting / sizeof device->dma.waiting[0];
  uint32_t word = from / 64;
  uint64_t bits;

  if (word >= words) return false;
  bits = device->dma.waiting[word] & ~0ull << from % 64;
  while (!bits && ++word < words) bits = device->dma.waiting[word];
  if (!bits) return false;
  *index = word * 64 + (uint32_t)__builtin_ctzll(bits);
  return true;
}

/* Looks through the queues in order of their number, again while one was rung meanwhile. */
static void run_all(struct nds_device* device, struct run* run) {
  uint32_t index;

  if (nds_is_silent(device, NDS_SILENT_DMA)) return;
  while (device->dma.rung && run->budget && !run->killed) {
    device->dma.rung = false;
    spend(run, LOOK_COST);
    for (index = 0; run->budget && !run->killed && nds_dma_next_waiting(device, index, &index);
         index++) {
      run_queue(device, index, run);
      /* A queue of an aborted engine may go on when the engine does. */
      if (!can_run(nds_dma_queue_at(device, index))) forget_waiting(device, index);
    }
  }
  device->dma.rung = run->killed && run->in_execution;
}

void nds_dma_run(struct nds_device* device) {
  struct run run = {.budget = BUDGET};

  run_all(device, &run);
}

bool nds_dma_run_in_execution(struct nds_device* device) {
  struct run run = {.budget = BUDGET, .in_execution = true};

  run_all(device, &run);
  return !run.killed;
}

/* Runs the pair `ahead` of the heads out of turn. *done = it is one that can be run so. */
static int step_ahead(struct nds_device* device, struct nds_queue* queue, uint32_t ahead,
                      bool* done) {
  struct descriptor tx, rx;
  int error = fetch(device, &queue->tx, ahead, &tx);

  if (!error) error = fetch(device, &queue->rx, ahead, &rx);
  *done = !error && !queue->tx.progress && !queue->rx.progress &&
          (is_cast(&tx) || neuron_udma_length(tx.len_ctrl) == neuron_udma_length(rx.len_ctrl));
  if (error || !*done) return error;
  if (is_cast(&tx)) return cast(device, &tx, &rx);
  return nds_bus_copy(device, rx.pa, tx.pa, neuron_udma_length(tx.len_ctrl));
}

static uint32_t pairs_ahead(const struct nds_queue* queue) {
  uint32_t pairs = queue->tx.pending < queue->rx.pending ? queue->tx.pending : queue->rx.pending;

  return pairs < ANY_ORDER_PAIRS ? pairs : ANY_ORDER_PAIRS;
}

/* Runs any pair of those that wait; retires those at the heads that have run. */
static int step_in_any_order(struct nds_device* device, uint32_t index, uint32_t pick) {
  struct nds_queue* queue = nds_dma_queue_at(device, index);
  uint32_t restarts = queue->tx.restarts + queue->rx.restarts;
  uint32_t ahead;
  bool done;
  int error;

  if (queue->done_since != restarts) queue->done = 0;
  queue->done_since = restarts;
  ahead = pick % pairs_ahead(queue);
  while (queue->done >> ahead & 1) ahead = (ahead + 1) % pairs_ahead(queue);
  error = step_ahead(device, queue, ahead, &done);
  if (error) return error;
  if (!done) {
    uint32_t bytes;

    queue->done = 0;
    return step(device, queue, &bytes);
  }
  if (queue->tx.restarts + queue->rx.restarts != restarts) return 0;
  queue->done |= 1ull << ahead;
  for (; queue->done & 1; queue->done >>= 1) {
    retire(&queue->tx);
    retire(&queue->rx);
  }
  return 0;
}

bool nds_dma_step(struct nds_device* device, uint32_t index, bool any_order, uint32_t pick) {
  struct run run = {.budget = BUDGET, .in_execution = true};
  const struct nds_queue* queue = nds_dma_queue_at(device, index);
  int error;

  if (!can_run(queue)) {
    forget_waiting(device, index);
    return false;
  }
  if (device->dma.engines[index / NEURON_MAX_DMA_QUEUES].state == NEURON_DMA_ENG_ABORT)
    return false;
  error = any_order ? step_in_any_order(device, index, pick) : observed_step(device, index, &run);
  if (error) abort_after(device, index, error);
  return true;
}

/* Whether the descriptor at head carries the phase of its lap. */
static int is_fresh(struct nds_device* device, const struct nds_ring* ring, bool* fresh) {
  uint32_t phase = (NEURON_UDMA_FIRST_RING_ID + ring->laps) << NEURON_UDMA_RING_ID_SHIFT;
  struct descriptor descriptor;
  int error = fetch(device, ring, 0, &descriptor);

  *fresh = !error && ((descriptor.len_ctrl ^ phase) & NEURON_UDMA_RING_ID_MASK) == 0;
  return error;
}

static int walk(struct nds_device* device, uint32_t index,
                bool (*enough)(struct nds_device* device, uint32_t core)) {
  struct run run = {.budget = BUDGET, .in_execution = true};
  struct nds_queue* queue = nds_dma_queue_at(device, index);
  uint32_t core = index / NEURON_MAX_DMA_QUEUES / NEURON_DMA_ENGINES_PER_CORE;
  uint32_t rest = 2 * queue->tx.length;

  for (; rest && queue->tx.length && queue->rx.length && !enough(device, core); rest--) {
    bool tx_fresh, rx_fresh;
    int error = is_fresh(device, &queue->tx, &tx_fresh);

    if (!error) error = is_fresh(device, &queue->rx, &rx_fresh);
    if (!error && (!tx_fresh || !rx_fresh)) return 0;
    if (!error) error = observed_step(device, index, &run);
    if (error) return error;
  }
  return rest || !queue->tx.length ? 0 : -E2BIG;
}

int nds_dma_walk(struct nds_device* device, uint32_t index,
                 bool (*enough)(struct nds_device* device, uint32_t core)) {
  int error = walk(device, index, enough);

  if (error) device->dma.engines[index / NEURON_MAX_DMA_QUEUES].state = NEURON_DMA_ENG_ABORT;
  return error;
}

void nds_ring_add(struct nds_device* device, uint32_t index, struct nds_ring* ring,
                  uint32_t count) {
  if (!ring->length) return;
  ring->tail = (uint32_t)(((uint64_t)ring->tail + count) % ring->length);
  ring->pending = count > ~0u - ring->pending ? ~0u : ring->pending + count;
  device->dma.waiting[index / 64] |= 1ull << index % 64;
  device->dma.rung = true;
}

void nds_ring_restart(struct nds_ring* ring) {
  ring->head = 0;
  ring->tail = 0;
  ring->pending = 0;
  ring->progress = 0;
  ring->laps = 0;
  ring->restarts++;
}

void nds_dma_restart_model_queues(struct nds_device* device, uint32_t core) {
  uint32_t first = core * NEURON_DMA_ENGINES_PER_CORE;
  uint32_t engine, id;

  for (engine = first; engine < first + NEURON_DMA_ENGINES_PER_CORE; engine++) {
    struct nds_engine* at = &device->dma.engines[engine];

    if (at->state == NEURON_DMA_ENG_ABORT) at->state = NEURON_DMA_ENG_NORMAL;
    for (id = 0; id < NEURON_MODEL_QUEUES; id++) {
      nds_ring_restart(&at->queue[id].tx);
      nds_ring_restart(&at->queue[id].rx);
    }
  }
}

void nds_dma_empty_model_queues(struct nds_device* device, uint32_t core) {
  uint32_t first = core * NEURON_DMA_ENGINES_PER_CORE;
  uint32_t engine, id;

  for (engine = first; engine < first + NEURON_DMA_ENGINES_PER_CORE; engine++) {
    for (id = 0; id < NEURON_MODEL_QUEUES; id++) {
      device->dma.engines[engine].queue[id].tx.pending = 0;
      device->dma.engines[engine].queue[id].rx.pending = 0;
    }
  }
}

void nds_ring_skip(struct nds_ring* ring) {
  if (ring->length) ring->laps += (uint32_t)(((uint64_t)ring->head + ring->pending) / ring->length);
  ring->head = ring->tail;
  ring->pending = 0;
  ring->progress = 0;
  ring->restarts++;
}
