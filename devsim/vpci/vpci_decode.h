/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Reads the instructions by which drivers reach registers: moves of all widths, with sign or zero
 * extension, and the string instructions of memcpy_toio, memcpy_fromio and memset_io.
 */
#ifndef VPCI_DECODE_H
#define VPCI_DECODE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VPCI_LONGEST_INSTRUCTION 15u
#define VPCI_NO_REGISTER 0xFFu /* also for an address relative to the instruction */

enum vpci_operation {
  VPCI_LOAD,            /* register := memory */
  VPCI_STORE,           /* memory := register */
  VPCI_STORE_IMMEDIATE, /* memory := immediate */
  VPCI_MOVE_STRING,     /* [rdi] := [rsi] */
  VPCI_STORE_STRING,    /* [rdi] := rax */
};

/* Registers are numbered as in encodings: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp ... 15 r15. */
struct vpci_instruction {
  enum vpci_operation operation;
  uint8_t length;
  uint8_t bytes; /* of memory: 1, 2, 4 or 8; of one element of a string */
  uint8_t reg;
  bool high_byte;       /* the register's bits 15:8 */
  uint8_t result_bytes; /* of the register, written by a load; 4 clears the upper half */
  bool sign;            /* a load extends with the sign */
  bool repeated;        /* rcx times */
  uint64_t immediate;
  /* The address of moves: base + (index << shift) + displacement. */
  uint8_t base;
  uint8_t index;
  uint8_t shift;
  int64_t displacement;
};

/* True if the first of `count` bytes begin an instruction that is known. */
bool vpci_decode(const uint8_t* code, size_t count, struct vpci_instruction* out);

#ifdef __cplusplus
}
#endif

#endif
