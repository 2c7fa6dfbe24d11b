/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The 64-byte instruction record as an engine reads it: waits and updates, control records, direct
 * transfers, and the pure part of what they do (spec 05 sections A1 to A5, spec 10 section 1).
 * Whoever executes or checks records - the device model, the token model of the loader - uses these
 * same functions.
 */
#ifndef NEURON_ABI_INSTRUCTION_H
#define NEURON_ABI_INSTRUCTION_H

#include "neuron_abi/types.h"

#define NEURON_RECORD_BYTES 64u
#define NEURON_RECORD_WORD_LENGTH 0x10u

/* Opcodes of the records an engine's sequencer executes itself. */
enum neuron_control_opcode {
  NEURON_OP_ENGINE_NOP = 0x9F,
  NEURON_OP_EVENT_SEMAPHORE = 0xA0,
  NEURON_OP_HALT = 0xA1,
  NEURON_OP_DRAIN = 0xA2,
  NEURON_OP_INSTRUCTION_FLUSH = 0xA3,
  NEURON_OP_NOP = 0xA4,
  NEURON_OP_WRITE = 0xA5,
  NEURON_OP_NOTIFY = 0xA6,
  NEURON_OP_MOVE = 0xA7,
  NEURON_OP_ALU = 0xA8,
  NEURON_OP_COMPARE_BRANCH = 0xA9,
  NEURON_OP_TENSOR_LOAD = 0xAA,
  NEURON_OP_TENSOR_STORE = 0xAB,
  NEURON_OP_RANGE_CLEAR = 0xB0,
  NEURON_OP_SET_ORDERING_MODE = 0xB1,
  NEURON_OP_POLL_SEMAPHORE = 0xB3,
  NEURON_OP_TEST_EVENT_SEMAPHORE = 0xB4,
  NEURON_OP_BRANCH_PREFETCH_HINT = 0xB5,
  NEURON_OP_DMA_MEMCPY = 0xB8,
  NEURON_OP_DMA_INDIRECT = 0xBB,
  NEURON_OP_DMA_TRANSPOSE = 0xBD,
  NEURON_OP_DMA_GATHER_TRANSPOSE = 0xF1,
};

/* Bytes of a record. */
enum neuron_record_offset {
  NEURON_AT_OPCODE = 0x00,
  NEURON_AT_WORD_LENGTH = 0x01,
  NEURON_AT_DEBUG_COMMAND = 0x02,
  NEURON_AT_WAIT_MODE = 0x04,
  NEURON_AT_WAIT_INDEX = 0x05,
  NEURON_AT_UPDATE_MODE = 0x06,
  NEURON_AT_UPDATE_INDEX = 0x07,
  NEURON_AT_SEMAPHORE_VALUE = 0x08, /* u32, of the wait and of the update */
  NEURON_AT_PAYLOAD = 0x0C,
  /* EVENT_SEMAPHORE: a second wait and update with values of their own */
  NEURON_AT_SECOND_WAIT_MODE = 0x20,
  NEURON_AT_SECOND_WAIT_INDEX = 0x21,
  NEURON_AT_SECOND_UPDATE_MODE = 0x22,
  NEURON_AT_SECOND_UPDATE_INDEX = 0x23,
  NEURON_AT_SECOND_WAIT_VALUE = 0x24,
  NEURON_AT_SECOND_UPDATE_VALUE = 0x28,
  /* WRITE */
  NEURON_AT_WRITE_SIZE = 0x0C,
  NEURON_AT_WRITE_ADDRESS = 0x10, /* u64 */
  NEURON_AT_WRITE_VALUE = 0x18,   /* u32 */
  /* MOVE, ALU_OP, COMPARE_BRANCH */
  NEURON_AT_OPERATION = 0x0C, /* MOVE: number of moves */
  NEURON_AT_DTYPE = 0x0D,
  NEURON_AT_SOURCE = 0x0E, /* enum neuron_operand_source; branches: enum neuron_branch_target */
  NEURON_AT_MOVE_SOURCES = 0x10,
  NEURON_AT_MOVE_TARGETS = 0x18,
  NEURON_AT_MOVE_IMMEDIATES = 0x20, /* u32 each */
  NEURON_AT_ALU_SOURCE = 0x10,
  NEURON_AT_ALU_TARGET = 0x14,
  NEURON_AT_ALU_IMMEDIATE = 0x18,
  NEURON_AT_COMPARE_IMMEDIATE = 0x10, /* u32 */
  NEURON_AT_COMPARE_LEFT = 0x20,
  NEURON_AT_COMPARE_RIGHT = 0x21,
  NEURON_AT_TARGET_LOW = 0x22,
  NEURON_AT_TARGET_HIGH = 0x23,
  NEURON_AT_BRANCH_OFFSET = 0x30, /* i32, bytes from the record itself */
  /* TENSOR_LOAD, TENSOR_STORE */
  NEURON_AT_TENSOR_DTYPE = 0x0C,
  NEURON_AT_TENSOR_SOURCE = 0x0D,
  NEURON_AT_TENSOR_COUNTS = 0x0E,    /* u8[2] */
  NEURON_AT_TENSOR_ADDRESS = 0x10,   /* address operand */
  NEURON_AT_TENSOR_STEPS = 0x18,     /* i32[2] */
  NEURON_AT_TENSOR_REGISTERS = 0x20, /* u8 each, or immediates */
  /* DMAMEMCPY */
  NEURON_AT_DMA_SEMAPHORE = 0x0D,
  NEURON_AT_DMA_INCREMENT = 0x0E,
  NEURON_AT_DMA_COMPUTE_OP = 0x0F,
  NEURON_AT_DMA_SOURCE = 0x10, /* address operand */
  NEURON_AT_DMA_SOURCE_STEPS = 0x18,
  NEURON_AT_DMA_SOURCE_COUNTS = 0x20,
  NEURON_AT_DMA_SOURCE_BYTES = 0x24, /* of a run; 0 = 64 KiB */
  NEURON_AT_DMA_SOURCE_BOUND = 0x26,
  NEURON_AT_DMA_TARGET_BOUND = 0x27,
  NEURON_AT_DMA_TARGET = 0x28,
  NEURON_AT_DMA_TARGET_STEPS = 0x30,
  NEURON_AT_DMA_TARGET_COUNTS = 0x38,
  NEURON_AT_DMA_TARGET_BYTES = 0x3C,
  NEURON_AT_DMA_SOURCE_DTYPE = 0x3E,
  NEURON_AT_DMA_TARGET_DTYPE = 0x3F,
};

/* Markers of an address operand, in its byte 7 (spec 05 A3). */
#define NEURON_ADDRESS_IMMEDIATE 0x00u
#define NEURON_ADDRESS_TABLE 0x20u          /* bytes 0-3 offset, 4-5 entry of the address table */
#define NEURON_ADDRESS_TABLE_REGISTER 0x28u /* the same, the offset in register byte 0 */
#define NEURON_ADDRESS_REGISTERS 0x80u      /* byte 0 low, byte 1 high register */

enum neuron_operand_source {
  NEURON_SOURCE_REGISTER = 0,
  NEURON_SOURCE_IMMEDIATE = 1,
};

enum neuron_branch_target {
  NEURON_TARGET_REGISTERS = 1, /* absolute, in a register pair */
  NEURON_TARGET_RELATIVE = 3,
  NEURON_TARGET_RELATIVE_REGISTER = 4,
};

/* Element types (spec 05 A1). */
enum neuron_dtype {
  NEURON_DTYPE_I8 = 2,
  NEURON_DTYPE_U8 = 3,
  NEURON_DTYPE_I16 = 4,
  NEURON_DTYPE_U16 = 5,
  NEURON_DTYPE_BF16 = 6,
  NEURON_DTYPE_FP16 = 7,
  NEURON_DTYPE_I32 = 8,
  NEURON_DTYPE_U32 = 9,
  NEURON_DTYPE_FP32 = 10,
};

/* Bytes of an element; 0 for a code that is not one of these types. */
static inline uint32_t neuron_dtype_bytes(uint32_t dtype) {
  if (dtype < NEURON_DTYPE_I8 || dtype > NEURON_DTYPE_FP32) return 0;
  return dtype <= NEURON_DTYPE_U8 ? 1 : dtype <= NEURON_DTYPE_FP16 ? 2 : 4;
}

#define NEURON_UPDATE_ON_COMPLETION 0x10u /* flag of an update mode */

static inline uint32_t neuron_record_u32(const uint8_t* record, uint32_t offset) {
  return record[offset] | (uint32_t)record[offset + 1] << 8 | (uint32_t)record[offset + 2] << 16 |
         (uint32_t)record[offset + 3] << 24;
}

static inline uint64_t neuron_record_u64(const uint8_t* record, uint32_t offset) {
  return neuron_record_u32(record, offset) | (uint64_t)neuron_record_u32(record, offset + 4) << 32;
}

static inline uint32_t neuron_record_u16(const uint8_t* record, uint32_t offset) {
  return record[offset] | (uint32_t)record[offset + 1] << 8;
}

/* A wait or an update. mode 0 = none. */
struct neuron_sync {
  uint8_t mode;
  uint8_t index; /* of the semaphore or event */
  uint32_t value;
};

static inline struct neuron_sync neuron_sync_make(uint8_t mode, uint8_t index, uint32_t value) {
  struct neuron_sync sync;

  sync.mode = mode;
  sync.index = index;
  sync.value = value;
  return sync;
}

/* Wait `which` of a record, 0 or 1; only an EVENT_SEMAPHORE has a second one. */
static inline struct neuron_sync neuron_wait_of(const uint8_t* record, uint32_t which) {
  if (!which)
    return neuron_sync_make(record[NEURON_AT_WAIT_MODE], record[NEURON_AT_WAIT_INDEX],
                            neuron_record_u32(record, NEURON_AT_SEMAPHORE_VALUE));
  if (record[NEURON_AT_OPCODE] != NEURON_OP_EVENT_SEMAPHORE) return neuron_sync_make(0, 0, 0);
  return neuron_sync_make(record[NEURON_AT_SECOND_WAIT_MODE], record[NEURON_AT_SECOND_WAIT_INDEX],
                          neuron_record_u32(record, NEURON_AT_SECOND_WAIT_VALUE));
}

/* The same for updates. */
static inline struct neuron_sync neuron_update_of(const uint8_t* record, uint32_t which) {
  if (!which)
    return neuron_sync_make(record[NEURON_AT_UPDATE_MODE], record[NEURON_AT_UPDATE_INDEX],
                            neuron_record_u32(record, NEURON_AT_SEMAPHORE_VALUE));
  if (record[NEURON_AT_OPCODE] != NEURON_OP_EVENT_SEMAPHORE) return neuron_sync_make(0, 0, 0);
  return neuron_sync_make(record[NEURON_AT_SECOND_UPDATE_MODE],
                          record[NEURON_AT_SECOND_UPDATE_INDEX],
                          neuron_record_u32(record, NEURON_AT_SECOND_UPDATE_VALUE));
}

/* Whether the mode has a meaning that is known; register forms have none. */
static inline bool neuron_wait_is_known(uint8_t mode) {
  return mode <= 7 || mode == 14 || mode == 15;
}

static inline bool neuron_wait_names_event(uint8_t mode) {
  return mode >= 6;
}

/* Whether a wait of a known mode holds; `present` is the value of what it names. */
static inline bool neuron_wait_holds(uint8_t mode, uint32_t present, uint32_t wanted) {
  switch (mode) {
    case 0:
      return true;
    case 1:
      return present == wanted;
    case 2:
      return present < wanted;
    case 3:
      return present <= wanted;
    case 4:
      return present > wanted;
    case 5:
      return present >= wanted;
    case 6: /* event set */
    case 7: /* event set, then clear it */
      return present != 0;
    default: /* 14 event clear, 15 event clear, then set it */
      return present == 0;
  }
}

/* Whether a wait that held changes its event, and to what. */
static inline bool neuron_wait_consumes(uint8_t mode, uint32_t* after) {
  *after = mode == 15;
  return mode == 7 || mode == 15;
}

static inline bool neuron_update_is_known(uint8_t mode) {
  switch (mode & ~NEURON_UPDATE_ON_COMPLETION) {
    case 0:
      return mode == 0;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 7:
    case 9:
      return true;
    default:
      return false;
  }
}

static inline bool neuron_update_names_event(uint8_t mode) {
  mode &= (uint8_t)~NEURON_UPDATE_ON_COMPLETION;
  return mode == 1 || mode == 2;
}

/* Whether the update does not depend on the value before it. */
static inline bool neuron_update_replaces(uint8_t mode) {
  mode &= (uint8_t)~NEURON_UPDATE_ON_COMPLETION;
  return neuron_update_names_event(mode) || mode == 9;
}

/* What an update of a known mode, not 0, makes of `present`. */
static inline uint32_t neuron_update_result(uint8_t mode, uint32_t present, uint32_t value) {
  switch (mode & ~NEURON_UPDATE_ON_COMPLETION) {
    case 1:
      return 1;
    case 2:
      return 0;
    case 3:
      return present + 1;
    case 4:
      return present - 1;
    case 5:
      return present + value;
    case 7:
      return present - value;
    default: /* 9 */
      return value;
  }
}

/* Registers hold 32 bits; types that order them as integers. */
static inline bool neuron_dtype_is_word(uint8_t dtype) {
  return dtype == NEURON_DTYPE_I32 || dtype == NEURON_DTYPE_U32;
}

static inline int64_t neuron_widen(uint8_t dtype, uint32_t value) {
  return dtype == NEURON_DTYPE_I32 ? (int64_t)(int32_t)value : (int64_t)value;
}

#define NEURON_COMPARE_ALWAYS 0u
#define NEURON_COMPARE_LAST_IMMEDIATE 6u /* 1..6 with an immediate, 7..12 with a register */
#define NEURON_COMPARE_LAST 12u

static inline bool neuron_compare(uint8_t operation, int64_t left, int64_t right) {
  switch (operation > NEURON_COMPARE_LAST_IMMEDIATE ? operation - NEURON_COMPARE_LAST_IMMEDIATE
                                                    : operation) {
    case 0:
      return true;
    case 1:
      return left < right;
    case 2:
      return left <= right;
    case 3:
      return left == right;
    case 4:
      return left != right;
    case 5:
      return left >= right;
    default:
      return left > right;
  }
}

/*
 * Integer operations of ALU_OP on two words (codes: spec 10 section 5.11). False for an operation
 * that has no rule.
 */
static inline bool neuron_alu(uint8_t operation, uint8_t dtype, uint32_t left, uint32_t right,
                              uint32_t* result) {
  bool less = neuron_widen(dtype, left) < neuron_widen(dtype, right);

  switch (operation) {
    case 0x04:
      *result = left + right;
      return true;
    case 0x05:
      *result = left - right;
      return true;
    case 0x06:
      *result = left * right;
      return true;
    case 0x08:
      *result = less ? right : left;
      return true;
    case 0x09:
      *result = less ? left : right;
      return true;
    case 0x0A:
      *result = left & right;
      return true;
    case 0x0B:
      *result = left | right;
      return true;
    case 0x0C:
      *result = left ^ right;
      return true;
    case 0x10:
      *result = right < 32 ? left << right : 0;
      return true;
    case 0x11:
      *result = right < 32 ? left >> right : 0;
      return true;
    default:
      return false;
  }
}

#endif
