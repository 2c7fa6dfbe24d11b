/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The UDMA engine as its users see it: 16-byte descriptors (spec 04 section 4) and queue registers
 * (spec 04 section 7.1, spec 06 section 7.2). The same on every architecture.
 *
 * A copy is a pair: a TX (M2S) descriptor reads the source, the RX (S2M) descriptor of the same
 * queue writes the destination. Words are little-endian.
 */
#ifndef NEURON_ABI_UDMA_H
#define NEURON_ABI_UDMA_H

#include "neuron_abi/types.h"

/* buf_ptr is a device physical address; host memory carries the architecture's host base. */
struct neuron_udma_tx_desc {
  uint32_t len_ctrl;
  uint32_t meta_ctrl;
  uint64_t buf_ptr;
};
NEURON_ABI_SIZE(struct neuron_udma_tx_desc, 16);
NEURON_ABI_FIELD(struct neuron_udma_tx_desc, meta_ctrl, 4);
NEURON_ABI_FIELD(struct neuron_udma_tx_desc, buf_ptr, 8);

struct neuron_udma_rx_desc {
  uint32_t len_ctrl;
  uint32_t buf2_ptr_lo; /* 0 for copies */
  uint64_t buf1_ptr;
};
NEURON_ABI_SIZE(struct neuron_udma_rx_desc, 16);
NEURON_ABI_FIELD(struct neuron_udma_rx_desc, buf2_ptr_lo, 4);
NEURON_ABI_FIELD(struct neuron_udma_rx_desc, buf1_ptr, 8);

#define NEURON_UDMA_DESC_SIZE 16u
#define NEURON_UDMA_DESC_PTR_OFFSET 8u
#define NEURON_UDMA_MAX_DESC_BYTES 65536u
#define NEURON_UDMA_MAX_PACKET_DESCS 64u /* data descriptors, safe on every arch (04 section 4) */

/* len_ctrl */
#define NEURON_UDMA_LEN_MASK 0x0000FFFFu /* 0 means 65536 */
#define NEURON_UDMA_META 0x00800000u
#define NEURON_UDMA_RING_ID_SHIFT 24
#define NEURON_UDMA_RING_ID_MASK 0x03000000u
#define NEURON_UDMA_FIRST 0x04000000u           /* TX */
#define NEURON_UDMA_LAST 0x08000000u            /* TX */
#define NEURON_UDMA_INT_EN 0x10000000u          /* RX */
#define NEURON_UDMA_STRONG_ORDER_WR 0x20000000u /* RX, architecture 3 and later */
#define NEURON_UDMA_DMB 0x40000000u             /* TX */
#define NEURON_UDMA_CONCAT 0x80000000u          /* TX */
#define NEURON_UDMA_FIRST_RING_ID 1u            /* of a freshly initialised ring */

/* meta_ctrl */
#define NEURON_UDMA_META_COPY 0x01080003u          /* a plain copy */
#define NEURON_UDMA_META_WRITE_BARRIER 0x04000000u /* bit 26; in len_ctrl that bit is FIRST */
#define NEURON_UDMA_META_OP_SHIFT 20
#define NEURON_UDMA_META_OP_MASK 0x00700000u

/*
 * Cast blocks (decision 9, ours: only the simulated device knows them): op_type 7, source dtype
 * code in bits 9:6, destination dtype code in bits 13:10.
 */
#define NEURON_UDMA_META_OP_CAST 7u
#define NEURON_UDMA_CAST_SRC_SHIFT 6
#define NEURON_UDMA_CAST_DST_SHIFT 10
#define NEURON_UDMA_CAST_DTYPE_MASK 0xFu

/* Blocks of an engine. Queue q: block + NEURON_UDMA_QUEUE_STRIDE * (q + 1). */
#define NEURON_UDMA_M2S_BLOCK 0x0u
#define NEURON_UDMA_S2M_BLOCK 0x20000u
#define NEURON_UDMA_GENERAL_BLOCK 0x38000u
#define NEURON_UDMA_GENERAL_EX_BLOCK 0x3C000u
#define NEURON_UDMA_QUEUE_STRIDE 0x1000u
#define NEURON_UDMA_ENGINE_STATE 0x200u  /* in the M2S and the S2M block */
#define NEURON_UDMA_ENGINE_CHANGE 0x204u /* in the M2S and the S2M block */
#define NEURON_UDMA_STATE_NORMAL 0x1u    /* in every nibble of the state; idle = 0 */
#define NEURON_UDMA_STATE_ABORT 0x2u
#define NEURON_UDMA_CHANGE_NORMAL 0x1u
#define NEURON_UDMA_CHANGE_DISABLE 0x2u
#define NEURON_UDMA_CHANGE_ABORT 0x4u

/* Registers of a queue, both directions. */
#define NEURON_UDMA_Q_CFG 0x20u
#define NEURON_UDMA_Q_STATUS 0x24u
#define NEURON_UDMA_Q_BASE_LO 0x28u
#define NEURON_UDMA_Q_BASE_HI 0x2Cu
#define NEURON_UDMA_Q_LENGTH 0x30u
#define NEURON_UDMA_Q_HEAD 0x34u
#define NEURON_UDMA_Q_TAIL_INC 0x38u /* the doorbell: descriptors added */
#define NEURON_UDMA_Q_TAIL 0x3Cu
#define NEURON_UDMA_Q_CURRENT 0x40u
#define NEURON_UDMA_Q_COMPLETION_BASE_LO 0x44u
#define NEURON_UDMA_Q_COMPLETION_BASE_HI 0x48u
#define NEURON_UDMA_Q_COMPLETION_HEAD 0x4Cu

/* Registers one direction has. */
#define NEURON_UDMA_M2S_Q_RATE_LIMIT_MASK 0x74u
#define NEURON_UDMA_M2S_Q_COMP_CFG 0xA0u
#define NEURON_UDMA_M2S_Q_SW_CTRL 0xB0u
#define NEURON_UDMA_M2S_Q_DATA_TAIL_INC 0xE0u /* architecture 3 and later */
#define NEURON_UDMA_S2M_Q_COMP_CFG 0x54u
#define NEURON_UDMA_S2M_Q_SW_CTRL 0x64u

#define NEURON_UDMA_Q_CFG_PREFETCH_EN 0x00010000u
#define NEURON_UDMA_Q_CFG_SCHEDULING_EN 0x00020000u
#define NEURON_UDMA_Q_SW_CTRL_RESET 0x100u

/* Offset of a queue register from the engine's base. */
static inline uint32_t neuron_udma_tx_register(uint32_t queue, uint32_t reg) {
  return NEURON_UDMA_M2S_BLOCK + NEURON_UDMA_QUEUE_STRIDE * (queue + 1u) + reg;
}

static inline uint32_t neuron_udma_rx_register(uint32_t queue, uint32_t reg) {
  return NEURON_UDMA_S2M_BLOCK + NEURON_UDMA_QUEUE_STRIDE * (queue + 1u) + reg;
}

/* Bytes a descriptor moves. */
static inline uint32_t neuron_udma_length(uint32_t len_ctrl) {
  uint32_t length = len_ctrl & NEURON_UDMA_LEN_MASK;

  return length ? length : NEURON_UDMA_MAX_DESC_BYTES;
}

#endif
