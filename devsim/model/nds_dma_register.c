/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The registers of a DMA engine, as descriptors, instruction streams and BAR 0 reach them (spec 04
 * section 7.1). Queue registers act; all others remember what was written.
 */
#include "nds_internal.h"

#define TAIL_INC_MASK 0xFFFFFFu

/*
 * The ring and register that an engine offset means, and the number of the queue; NULL if it is no
 * queue register.
 */
static struct nds_ring* ring_at(struct nds_device* device, uint32_t engine, uint32_t offset,
                                uint32_t* reg, uint32_t* index) {
  bool rx = offset >= NEURON_UDMA_S2M_BLOCK;
  uint32_t inside = offset - (rx ? NEURON_UDMA_S2M_BLOCK : NEURON_UDMA_M2S_BLOCK);
  uint32_t slot = inside / NEURON_UDMA_QUEUE_STRIDE;
  struct nds_queue* queue;

  if (offset >= NEURON_UDMA_GENERAL_BLOCK || !slot || slot > NEURON_MAX_DMA_QUEUES) return NULL;
  queue = nds_dma_queue(device, engine, slot - 1);
  if (!queue) return NULL;
  *reg = inside % NEURON_UDMA_QUEUE_STRIDE;
  *index = engine * NEURON_MAX_DMA_QUEUES + slot - 1;
  return rx ? &queue->rx : &queue->tx;
}

static bool is_reset_register(uint32_t offset, uint32_t reg) {
  return reg ==
         (offset >= NEURON_UDMA_S2M_BLOCK ? NEURON_UDMA_S2M_Q_SW_CTRL : NEURON_UDMA_M2S_Q_SW_CTRL);
}

static void remember(struct nds_device* device, uint32_t engine, uint32_t offset, uint32_t value) {
  if (nds_os_space_write(device->bar0_space, nds_bar_dma_engine(device, engine) + offset, &value,
                         sizeof value))
    nds_os_log("DMA engine %u: no memory for its registers", engine);
}

static void write_queue(struct nds_device* device, uint32_t index, struct nds_ring* ring,
                        uint32_t reg, uint32_t value) {
  switch (reg) {
    case NEURON_UDMA_Q_BASE_LO:
      ring->base = (ring->base & 0xFFFFFFFF00000000ull) | (value & ~0x3Fu);
      break;
    case NEURON_UDMA_Q_BASE_HI:
      ring->base = (ring->base & 0xFFFFFFFFull) | (uint64_t)value << 32;
      break;
    case NEURON_UDMA_Q_LENGTH:
      ring->length = value & 0xFFFFFF;
      nds_ring_restart(ring);
      break;
    case NEURON_UDMA_Q_TAIL_INC:
      nds_ring_add(device, index, ring, value & TAIL_INC_MASK);
      break;
    default:
      break;
  }
}

/* True for a register that the M2S and the S2M block both have, at `inside`. */
static bool is_block_register(uint32_t offset, uint32_t inside) {
  return offset == NEURON_UDMA_M2S_BLOCK + inside || offset == NEURON_UDMA_S2M_BLOCK + inside;
}

/* Both halves of an engine share one state. Several requests at once: the strongest wins. */
static void change_state(struct nds_device* device, uint32_t engine, uint32_t value) {
  uint32_t* state = &device->dma.engines[engine].state;

  if (value & NEURON_UDMA_CHANGE_NORMAL) *state = NEURON_DMA_ENG_NORMAL;
  if (value & NEURON_UDMA_CHANGE_DISABLE) *state = NEURON_DMA_ENG_IDLE;
  if (value & NEURON_UDMA_CHANGE_ABORT) *state = NEURON_DMA_ENG_ABORT;
}

/* Every unit of the engine has a nibble for its state. */
static uint32_t state_word(const struct nds_engine* engine) {
  if (engine->state == NEURON_DMA_ENG_ABORT) return NEURON_UDMA_STATE_ABORT * 0x1111u;
  return engine->state == NEURON_DMA_ENG_NORMAL ? NEURON_UDMA_STATE_NORMAL * 0x1111u : 0;
}

void nds_dma_register_write(struct nds_device* device, uint32_t engine, uint32_t offset,
                            uint32_t value) {
  uint32_t reg = 0, index = 0;
  struct nds_ring* ring = ring_at(device, engine, offset, &reg, &index);

  remember(device, engine, offset, value);
  if (is_block_register(offset, NEURON_UDMA_ENGINE_CHANGE)) change_state(device, engine, value);
  if (!ring) return;
  if (is_reset_register(offset, reg)) {
    if (value & NEURON_UDMA_Q_SW_CTRL_RESET) nds_ring_restart(ring);
    return;
  }
  write_queue(device, index, ring, reg, value);
}

uint32_t nds_dma_register_read(struct nds_device* device, uint32_t engine, uint32_t offset) {
  uint32_t reg = 0, index = 0;
  const struct nds_ring* ring = ring_at(device, engine, offset, &reg, &index);
  uint32_t value = 0;

  if (is_block_register(offset, NEURON_UDMA_ENGINE_STATE))
    return state_word(&device->dma.engines[engine]);
  if (ring) {
    switch (reg) {
      case NEURON_UDMA_Q_BASE_LO:
        return (uint32_t)ring->base;
      case NEURON_UDMA_Q_BASE_HI:
        return (uint32_t)(ring->base >> 32);
      case NEURON_UDMA_Q_LENGTH:
        return ring->length;
      case NEURON_UDMA_Q_HEAD:
      case NEURON_UDMA_Q_CURRENT:
      case NEURON_UDMA_Q_COMPLETION_HEAD:
        return ring->head;
      case NEURON_UDMA_Q_TAIL:
        return ring->tail;
      default:
        break;
    }
  }
  (void)nds_os_space_read(device->bar0_space, nds_bar_dma_engine(device, engine) + offset, &value,
                          sizeof value);
  return value;
}

bool nds_dma_register_over_runs(struct nds_device* device, uint32_t engine, uint32_t offset,
                                uint32_t value) {
  uint32_t reg = 0, index = 0;
  const struct nds_ring* ring = ring_at(device, engine, offset, &reg, &index);

  return ring && reg == NEURON_UDMA_Q_TAIL_INC &&
         (uint64_t)ring->pending + (value & TAIL_INC_MASK) > ring->length;
}

bool nds_dma_register_is_protected(uint32_t offset) {
  uint32_t inside = offset % NEURON_UDMA_S2M_BLOCK;
  uint32_t slot = inside / NEURON_UDMA_QUEUE_STRIDE;

  if (offset >= NEURON_UDMA_GENERAL_BLOCK || !slot || slot > NEURON_MAX_DMA_QUEUES) return false;
  switch (inside % NEURON_UDMA_QUEUE_STRIDE) {
    case NEURON_UDMA_Q_BASE_LO:
    case NEURON_UDMA_Q_BASE_HI:
    case NEURON_UDMA_Q_TAIL_INC:
    case NEURON_UDMA_Q_COMPLETION_BASE_LO:
    case NEURON_UDMA_Q_COMPLETION_BASE_HI:
      return true;
    default:
      return false;
  }
}
