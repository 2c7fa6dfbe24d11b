/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Programming and inspecting queues (spec 06 section 4.7). */
#include "nds_internal.h"

/* What a handle of a queue-init request stands for. */
struct ring_memory {
  bool present;
  uint64_t pa;
  uint64_t bytes;
  uint64_t sequence;
  bool host;
};

static struct ring_memory look_up(struct nds_device* device, uint64_t handle) {
  struct ring_memory memory = {0};
  const struct nds_chunk* chunk = nds_handle_find(&device->handles, handle);

  if (chunk) {
    memory.present = true;
    memory.pa = chunk->pa;
    memory.bytes = chunk->bytes;
    memory.sequence = chunk->sequence;
    memory.host = chunk->host;
  }
  return memory;
}

/* The driver takes an unknown handle as "no ring"; a clean device refuses it (06 12.10). */
static bool handle_is_unknown(const struct ring_memory* memory, uint64_t handle) {
  return handle && !memory->present;
}

static void remember(struct nds_ring* ring, const struct ring_memory* memory) {
  if (!memory->present) return;
  ring->chunk_pa = memory->pa;
  ring->chunk_sequence = memory->sequence;
  ring->chunk_host = memory->host;
}

/* Base and count as the hardware layer wants them: 0 or -EPERM, the driver's -1. */
static int check_shape(const struct ring_memory* memory, uint32_t count) {
  if (memory->pa % NEURON_RING_BASE_ALIGN) return -EPERM;
  return count % NEURON_RING_DESC_MULTIPLE ? -EPERM : 0;
}

/* Programs one half, whether or not there is a ring. 0 or -EINVAL. */
static int program(struct nds_ring* ring, const struct ring_memory* memory, uint32_t count) {
  if (count < NEURON_RING_MIN_DESCS || count > NEURON_RING_MAX_DESCS) return -EINVAL;
  ring->base = memory->present ? memory->pa : 0;
  ring->length = count;
  nds_ring_restart(ring);
  return 0;
}

static int init_queue(struct nds_device* device, const struct neuron_dma_queue_init* entry,
                      const struct ring_memory* tx, const struct ring_memory* rx,
                      const struct ring_memory* completion, int32_t tgid) {
  struct nds_queue* queue = nds_dma_queue(device, entry->eng_id, entry->qid);
  int error;

  /* Owner and rings are kept even if a later step fails (06 4.7 item 2). */
  if (queue) {
    queue->owner = tgid;
    remember(&queue->tx, tx);
    remember(&queue->rx, rx);
  }
  if (completion->present &&
      (uint64_t)entry->rx_desc_count * NEURON_UDMA_DESC_SIZE > completion->bytes)
    return -EINVAL;
  error = check_shape(tx, entry->tx_desc_count);
  if (!error) error = check_shape(rx, entry->rx_desc_count);
  if (error) return error;
  if (completion->present) return -EPERM;
  if (!queue) return -EINVAL;
  error = program(&queue->tx, tx, entry->tx_desc_count);
  return error ? error : program(&queue->rx, rx, entry->rx_desc_count);
}

/* Rules beyond the driver's that keep a clean device from accepting nonsense (06 12.10). */
static bool is_acceptable(const struct nds_device* device,
                          const struct neuron_dma_queue_init* entry, const struct ring_memory* tx,
                          const struct ring_memory* rx, const struct ring_memory* completion) {
  uint64_t tx_bytes = (uint64_t)entry->tx_desc_count * NEURON_UDMA_DESC_SIZE;
  uint64_t rx_bytes = (uint64_t)entry->rx_desc_count * NEURON_UDMA_DESC_SIZE;

  if (device->config.strictness != NDS_CLEAN) return true;
  if (handle_is_unknown(tx, entry->tx_handle) || handle_is_unknown(rx, entry->rx_handle) ||
      handle_is_unknown(completion, entry->rxc_handle))
    return false;
  return (!tx->present || tx_bytes <= tx->bytes) && (!rx->present || rx_bytes <= rx->bytes);
}

static int queue_init(struct nds_call* call, const struct neuron_dma_queue_init* entry) {
  struct nds_device* device = call->device;
  struct ring_memory tx, rx, completion;
  int error = -EINVAL;

  if (entry->eng_id >= NEURON_MAX_DMA_ENGINES || entry->qid >= NEURON_MAX_DMA_QUEUES)
    return -EINVAL;
  nds_mutex_lock(&device->lock);
  tx = look_up(device, entry->tx_handle);
  rx = look_up(device, entry->rx_handle);
  completion = look_up(device, entry->rxc_handle);
  nds_mutex_unlock(&device->lock);
  if (handle_is_unknown(&tx, entry->tx_handle) || handle_is_unknown(&rx, entry->rx_handle))
    nds_os_log("queue init: engine %u queue %u names an unknown ring handle", entry->eng_id,
               entry->qid);
  if (!is_acceptable(device, entry, &tx, &rx, &completion)) return -EINVAL;
  /* Device rings on the driver's own copy queue kill the next copy (11 B.4). */
  if (nds_dma_is_driver_queue(device, entry->eng_id, entry->qid) &&
      ((tx.present && !tx.host) || (rx.present && !rx.host)))
    return -EINVAL;
  nds_dma_lock(device);
  error = init_queue(device, entry, &tx, &rx, &completion, call->tgid);
  nds_dma_unlock(device);
  return error;
}

long nds_dma_queue_init(struct nds_call* call) {
  struct neuron_dma_queue_init entry;

  if (nds_get(call, &entry, sizeof entry)) return -EACCES;
  return queue_init(call, &entry);
}

long nds_dma_queue_init_batch(struct nds_call* call) {
  struct neuron_dma_queue_init_batch* batch = nds_os_alloc(sizeof *batch);
  long result = 0;
  uint32_t index;

  if (!batch) return -ENOMEM;
  if (nds_get(call, batch, sizeof *batch))
    result = -EACCES;
  else if (batch->count > NEURON_MAX_QUEUE_INIT_BATCH)
    result = -E2BIG;
  /* The first failure ends the batch; earlier entries stay. */
  for (index = 0; !result && index < batch->count; index++)
    result = queue_init(call, &batch->entries[index]);
  nds_os_free(batch);
  return result;
}

static void describe(const struct nds_ring* ring, struct neuron_dma_queue_state* state) {
  memset(state, 0, sizeof *state);
  state->sw_status = NEURON_DMA_QUEUE_ENABLED;
  state->base_addr = ring->base;
  state->length = ring->length;
  state->head_pointer = ring->head;
  state->tail_pointer = ring->tail;
  /* No completion ring is ever used; its head follows the queue's. */
  state->completion_head = ring->head;
}

long nds_dma_queue_get_state(struct nds_call* call) {
  struct nds_device* device = call->device;
  struct neuron_dma_queue_get_state argument;
  struct neuron_dma_queue_state tx, rx;
  const struct nds_queue* queue;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  nds_dma_lock(device);
  queue = nds_dma_queue(device, argument.eng_id, argument.qid);
  if (queue) {
    describe(&queue->tx, &tx);
    describe(&queue->rx, &rx);
  }
  nds_dma_unlock(device);
  /* Out of range dereferences NULL in the real kernel (11 B.4). */
  if (!queue) return -EINVAL;
  result = nds_put_at(call, argument.tx_ptr, &tx, sizeof tx);
  return result ? result : nds_put_at(call, argument.rx_ptr, &rx, sizeof rx);
}
