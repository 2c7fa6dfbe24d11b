/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Engine state, starting of descriptors and acknowledgement (spec 06 section 4.7). */
#include "nds_internal.h"

#define ENGINE_REVISION 4u

static struct nds_engine* engine_of(struct nds_device* device, uint32_t engine) {
  return engine < device->profile->dma_engines ? &device->dma.engines[engine] : NULL;
}

/* Unknown states, and engines the architecture does not have, change nothing and return 0. */
long nds_dma_eng_set_state(struct nds_call* call) {
  struct neuron_dma_eng_set_state argument;
  struct nds_engine* engine;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.eng_id >= NEURON_MAX_DMA_ENGINES) return -EINVAL;
  engine = engine_of(call->device, argument.eng_id);
  if (!engine) return 0;
  nds_dma_lock(call->device);
  if (argument.state == NEURON_DMA_SET_DISABLE) engine->state = NEURON_DMA_ENG_IDLE;
  if (argument.state == NEURON_DMA_SET_NORMAL) engine->state = NEURON_DMA_ENG_NORMAL;
  if (argument.state == NEURON_DMA_SET_ABORT) engine->state = NEURON_DMA_ENG_ABORT;
  nds_dma_unlock(call->device);
  return 0;
}

long nds_dma_eng_get_state(struct nds_call* call) {
  struct neuron_dma_eng_get_state argument;
  struct neuron_dma_eng_state state = {
      .revision_id = ENGINE_REVISION,
      .max_queues = NEURON_MAX_DMA_QUEUES,
      .num_queues = NEURON_MAX_DMA_QUEUES,
  };
  struct nds_engine* engine;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  /* An absent engine dereferences NULL in the real kernel (11 B.4). */
  engine = engine_of(call->device, argument.eng_id);
  if (!engine) return -EINVAL;
  nds_dma_lock(call->device);
  state.tx_state = engine->state;
  state.rx_state = engine->state;
  nds_dma_unlock(call->device);
  return nds_put_at(call, argument.state_ptr, &state, sizeof state);
}

/* The driver's checks, then what would crash it: 0, -EPERM (its -1) or -EINVAL. */
static long check_start(const struct nds_queue* queue,
                        const struct neuron_dma_queue_copy_start* argument) {
  if (!queue) return -EPERM;
  if (argument->tx_desc_count > queue->tx.length) return -EPERM;
  if (argument->rx_desc_count > queue->rx.length) return -EPERM;
  if (!argument->rx_desc_count || !queue->rx.chunk_sequence) return -EINVAL;
  return argument->tx_desc_count && !queue->tx.chunk_sequence ? -EINVAL : 0;
}

long nds_dma_queue_copy_start(struct nds_call* call) {
  struct neuron_dma_queue_copy_start argument;
  struct nds_queue* queue;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.eng_id >= NEURON_MAX_DMA_ENGINES) return -EINVAL;
  nds_dma_lock(call->device);
  queue = nds_dma_queue(call->device, argument.eng_id, argument.qid);
  result = check_start(queue, &argument);
  if (!result) {
    uint32_t index = argument.eng_id * NEURON_MAX_DMA_QUEUES + argument.qid;

    nds_ring_add(call->device, index, &queue->rx, argument.rx_desc_count);
    nds_ring_add(call->device, index, &queue->tx, argument.tx_desc_count);
    nds_dma_run(call->device);
  }
  nds_dma_unlock(call->device);
  return result;
}

/*
 * The driver's software head moves; nothing visible does. It insists on a power of two by dying
 * (11 B.4).
 */
long nds_dma_ack_completed(struct nds_call* call) {
  struct neuron_dma_ack_completed argument;
  const struct nds_queue* queue;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  nds_dma_lock(call->device);
  queue = nds_dma_queue(call->device, argument.eng_id, argument.qid);
  if (!queue || (queue->rx.length & (queue->rx.length - 1)) ||
      (queue->tx.length & (queue->tx.length - 1)) || !queue->rx.length)
    result = -EINVAL;
  nds_dma_unlock(call->device);
  return result;
}
