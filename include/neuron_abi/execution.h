/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * How an execution is requested, reported and what its errors look like (spec 04 sections 9 to 13,
 * decisions 3, 22, 30, 34 and 35). Marks: [ours] = a rule of the simulated device only.
 *
 * The host appends two descriptor pairs to the exec ring of a core - the request into the mailbox,
 * a poke of event NEURON_EVENT_REQUEST_LOAD - and adds 1 to semaphore 0 of the core.
 */
#ifndef NEURON_ABI_EXECUTION_H
#define NEURON_ABI_EXECUTION_H

#include "neuron_abi/types.h"

/* Engines of a core, in the order of every table of theirs. */
enum neuron_engine {
  NEURON_ENGINE_PE = 0,
  NEURON_ENGINE_ACT = 1,
  NEURON_ENGINE_POOL = 2,
  NEURON_ENGINE_DVE = 3,
  NEURON_ENGINE_SP = 4,
  NEURON_ENGINES_PER_CORE = 5,
};

/*
 * Queues (decision 3): models use the ids 0 to 12 of all the core's DMA engines, the runtime's own
 * rings have id 13 on the core's engines named here.
 */
#define NEURON_MODEL_QUEUES 13u
#define NEURON_RUNTIME_QUEUE 13u
#define NEURON_EXEC_RING_ENGINE 0u
#define NEURON_IOQ_SWITCHER_ENGINE 1u
#define NEURON_ACT_RING_ENGINE 2u
#define NEURON_DVE_RING_ENGINE 3u
#define NEURON_EXEC_RING_DESCS 8192u /* of the TX and of the RX ring */

/* Where a request is copied to: bytes from the start of the core's event unit [ours]. */
#define NEURON_EXEC_MAILBOX 0x80000ull

/* What the mailbox holds. */
struct neuron_exec_request {
  uint32_t do_model_switch; /* another model ran last */
  uint32_t eng_addr_lo[NEURON_ENGINES_PER_CORE];
  uint32_t eng_addr_hi[NEURON_ENGINES_PER_CORE]; /* of the instruction images */
  uint32_t reload_seq_config;
  uint32_t load_act_dve_tables; /* run the ACT and DVE rings before the engines start */
  uint32_t cc_dma_increment;
  uint64_t dge_table_pa; /* the u64 addresses that address-table operands name; 0 = none */
};
NEURON_ABI_SIZE(struct neuron_exec_request, 64);
NEURON_ABI_FIELD(struct neuron_exec_request, eng_addr_lo, 4);
NEURON_ABI_FIELD(struct neuron_exec_request, eng_addr_hi, 0x18);
NEURON_ABI_FIELD(struct neuron_exec_request, reload_seq_config, 0x2C);
NEURON_ABI_FIELD(struct neuron_exec_request, load_act_dve_tables, 0x30);
NEURON_ABI_FIELD(struct neuron_exec_request, cc_dma_increment, 0x34);
NEURON_ABI_FIELD(struct neuron_exec_request, dge_table_pa, 0x38);

static inline uint64_t neuron_exec_image(const struct neuron_exec_request* request,
                                         uint32_t engine) {
  return request->eng_addr_lo[engine] | (uint64_t)request->eng_addr_hi[engine] << 32;
}

/* Events and semaphores with a meaning of their own (spec 04 section 5, decision 22). */
#define NEURON_EVENT_ACT_TABLES_LOAD 6u
#define NEURON_EVENT_DVE_TABLES_LOAD 7u
#define NEURON_EVENT_REQUEST_LOAD 8u
#define NEURON_SEMAPHORE_INFERENCE_START 0u
#define NEURON_SEMAPHORE_FIRST_CLEARED 3u  /* an execution begins with these at 0, */
#define NEURON_SEMAPHORE_LAST_CLEARED 239u /* and with all events clear */
#define NEURON_SEMAPHORE_ENGINE_START 240u /* + engine: the gate at the start of its image */
#define NEURON_SEMAPHORE_DONE 245u

/* Notification queues of a core: engine_index of the init calls, and bytes of a ring. */
#define NEURON_NQ_INDEX_ERROR 2u
#define NEURON_NQ_INDEX_INFER_STATUS 4u /* + engine */
#define NEURON_NQ_RING_BYTES 0x10000u

/*
 * Registers of a notification queue, in the core's notific block (spec 04 section 10). Head and
 * tail count records, modulo the ring; head is the host's, tail the device's. A ring with one free
 * record is full.
 */
#define NEURON_NOTIFIC_BASE_LO 0x100u
#define NEURON_NOTIFIC_BASE_HI 0x104u
#define NEURON_NOTIFIC_SIZE 0x108u
#define NEURON_NOTIFIC_HEAD 0x10Cu
#define NEURON_NOTIFIC_TAIL 0x110u
#define NEURON_NOTIFIC_STRIDE 0x28u
/* [ours] the word of interrupt line 61; the device sets the bit when it drops a record */
#define NEURON_NOTIFIC_INTC_LINE 0xF4u
#define NEURON_NOTIFIC_INTC_OVERFLOW 0x20000000u

/* One record of a notification queue. */
struct neuron_notification {
  uint16_t pc_low;    /* the record's slot in the engine's image, bits 15:0 */
  uint8_t pc_high;    /* bits 19:16 in the low nibble; the high nibble is a debug hint */
  uint8_t kind;       /* NEURON_NOTIFICATION_TYPE and the flags below */
  uint16_t sub_id;    /* errors: enum neuron_exec_error */
  uint16_t subtype;   /* enum neuron_notification_subtype; errors: see below */
  uint64_t timestamp; /* picoseconds, strictly increasing on a device */
};
NEURON_ABI_SIZE(struct neuron_notification, 16);
NEURON_ABI_FIELD(struct neuron_notification, pc_high, 2);
NEURON_ABI_FIELD(struct neuron_notification, kind, 3);
NEURON_ABI_FIELD(struct neuron_notification, sub_id, 4);
NEURON_ABI_FIELD(struct neuron_notification, subtype, 6);
NEURON_ABI_FIELD(struct neuron_notification, timestamp, 8);

#define NEURON_NOTIFICATION_TYPE 0x1Fu
#define NEURON_NOTIFICATION_SW_OVERFLOW 0x20u
#define NEURON_NOTIFICATION_HW_OVERFLOW 0x40u
#define NEURON_NOTIFICATION_PHASE 0x80u /* set on the first lap of a ring, flips with each wrap */
#define NEURON_NOTIFICATION_EXPLICIT 6u /* + 4 * engine */
#define NEURON_NOTIFICATION_TPB_ERROR 0x1Fu

enum neuron_notification_subtype {
  NEURON_NOTIFICATION_START = 2,
  NEURON_NOTIFICATION_END = 3,
  NEURON_NOTIFICATION_CUSTOM = 6,
};

/*
 * Error records carry a class in sub_id, and engine | offset << 8 in subtype, where offset is the
 * byte of the instruction record that is wrong, 0 = the record as a whole. The first three classes
 * are spec 04 section 11, the others [ours]. After any class but STALLED the engines of the core
 * stand still until the next request.
 */
enum neuron_exec_error {
  NEURON_EXEC_NUMERICAL = 1,
  NEURON_EXEC_TRANSIENT = 2,
  NEURON_EXEC_SW_SEQUENCER = 8,
  NEURON_EXEC_STALLED = 0x40,        /* the engine waits, and nothing on the device can move */
  NEURON_EXEC_RECORD_REFUSED = 0x41, /* the record is illegal or not modelled */
  NEURON_EXEC_NO_COMPUTE = 0x42,     /* a compute record where nothing computes */
  NEURON_EXEC_DMA_ABORT = 0x43,      /* a ring or direct transfer named no memory */
  NEURON_EXEC_OUT_OF_MEMORY = 0x44,
  NEURON_EXEC_ENDLESS = 0x45, /* the execution limit was reached, or NEURON_EXEC_QUIET */
  NEURON_EXEC_FETCH = 0x46,   /* the next record lies in no memory */
};

/* [ours] offset of an ENDLESS without limit: so many records neither computed nor moved anything */
#define NEURON_EXEC_QUIET 1u

/* [ours] engine of an error record that a ring caused; its PC is the core's DMA engine | queue << 4
 */
#define NEURON_EXEC_RING 7u

static inline uint32_t neuron_notification_pc(const struct neuron_notification* record) {
  return record->pc_low | (uint32_t)(record->pc_high & 0xFu) << 16;
}

#endif
