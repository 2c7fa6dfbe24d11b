/* SPDX-License-Identifier: MIT */
/*
 * All commands of the interface with what their arguments mean, for tests that go through them: a
 * call that gets past the checks, and the fields in which it can be made wrong.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
  FIELD_FIXED = 1, /* a value that the call needs to get anywhere */
  FIELD_QUANTITY,  /* a size, offset, count or index, with a value that is in range */
  FIELD_HANDLE,    /* of device memory */
  FIELD_RING,      /* of another piece of device memory */
  FIELD_ADDRESS,   /* of the device memory of FIELD_HANDLE */
  FIELD_POINTER,   /* to user memory */
};

#define COMMAND_FIELDS 8

struct command {
  uint32_t value;
  uint32_t bytes; /* of the argument struct, whatever the value encodes */
  struct {
    uint16_t at;
    uint8_t width; /* 4 or 8 bytes, 0 ends the list */
    uint8_t kind;
    uint64_t value;
  } field[COMMAND_FIELDS];
};

extern const struct command commands[];
extern const size_t command_count;

/* What the pieces of memory behind FIELD_HANDLE and FIELD_POINTER hold, and the largest argument.
 */
#define SUBJECT_BYTES 0x10000u
#define LARGEST_ARGUMENT 12296u

/* The things that an argument refers to. */
struct subject {
  uint64_t handle, ring;
  uint64_t pa;
  uint64_t user; /* address */
};

/* Writes the argument of a call that gets past the checks; room for LARGEST_ARGUMENT bytes. */
void argument_of(const struct command* command, const struct subject* subject, uint8_t* argument);

#endif
