/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "vpci_decode.h"

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#define REX_W 8u
#define REX_R 4u
#define REX_X 2u
#define REX_B 1u

/* An instruction while it is read. */
struct reader {
  const uint8_t* code;
  size_t count;
  size_t at;
  bool short_code;
  uint8_t rex;
  bool operand16;
  bool rep;
};

static uint8_t next(struct reader* reader) {
  if (reader->at >= reader->count || reader->at >= VPCI_LONGEST_INSTRUCTION) {
    reader->short_code = true;
    return 0;
  }
  return reader->code[reader->at++];
}

/* A little-endian number of 1, 2 or 4 bytes with its sign. */
static int64_t number(struct reader* reader, unsigned int bytes) {
  uint32_t value = 0;
  unsigned int index;

  for (index = 0; index < bytes; index++) value |= (uint32_t)next(reader) << (8 * index);
  if (bytes == 1) return (int8_t)value;
  return bytes == 2 ? (int16_t)value : (int32_t)value;
}

/* Segment and lock prefixes are not among them: nothing that reaches registers has one. */
static uint8_t prefixes(struct reader* reader) {
  for (;;) {
    uint8_t byte = next(reader);

    if (reader->short_code) return byte;
    if (byte == 0x66)
      reader->operand16 = true;
    else if (byte == 0xF3)
      reader->rep = true;
    else if ((byte & 0xF0) == 0x40) {
      reader->rex = byte;
      return next(reader); /* the last prefix */
    } else
      return byte;
  }
}

static uint8_t operand_bytes(const struct reader* reader) {
  if (reader->rex & REX_W) return 8;
  return reader->operand16 ? 2 : 4;
}

/* The byte after ModRM that names base and index. */
static void scaled(struct reader* reader, uint8_t mode, struct vpci_instruction* out) {
  uint8_t sib = next(reader);
  uint8_t index = (uint8_t)((sib >> 3 & 7) | (reader->rex & REX_X ? 8 : 0));

  out->base = (uint8_t)((sib & 7) | (reader->rex & REX_B ? 8 : 0));
  if (index != 4) out->index = index;
  out->shift = sib >> 6;
  if ((sib & 7) == 5 && mode == 0) {
    out->base = VPCI_NO_REGISTER;
    out->displacement = number(reader, 4);
  }
}

/* ModRM and what belongs to it. Returns its middle field, or -1 if no memory is named. */
static int memory_operand(struct reader* reader, struct vpci_instruction* out) {
  uint8_t modrm = next(reader);
  uint8_t mode = modrm >> 6;
  uint8_t low = modrm & 7;

  if (mode == 3) return -1;
  if (mode == 0 && low == 5) return -1; /* relative to the instruction: no register is there */
  if (low == 4)
    scaled(reader, mode, out);
  else
    out->base = (uint8_t)(low | (reader->rex & REX_B ? 8 : 0));
  if (mode == 1) out->displacement = number(reader, 1);
  if (mode == 2) out->displacement = number(reader, 4);
  return modrm >> 3 & 7;
}

static bool name_register(const struct reader* reader, int field, bool byte_wide,
                          struct vpci_instruction* out) {
  if (field < 0) return false;
  out->reg = (uint8_t)(field | (reader->rex & REX_R ? 8 : 0));
  /* Without a REX prefix, four byte registers are the second bytes of the first four. */
  if (byte_wide && !reader->rex && field >= 4) {
    out->reg = (uint8_t)(field - 4);
    out->high_byte = true;
  }
  return true;
}

static bool move(struct reader* reader, uint8_t opcode, struct vpci_instruction* out) {
  bool byte_wide = !(opcode & 1);

  out->operation = opcode & 2 ? VPCI_LOAD : VPCI_STORE;
  out->bytes = byte_wide ? 1 : operand_bytes(reader);
  out->result_bytes = out->bytes;
  return name_register(reader, memory_operand(reader, out), byte_wide, out);
}

static bool move_immediate(struct reader* reader, uint8_t opcode, struct vpci_instruction* out) {
  out->operation = VPCI_STORE_IMMEDIATE;
  out->bytes = opcode & 1 ? operand_bytes(reader) : 1;
  if (memory_operand(reader, out) != 0) return false;
  out->immediate = (uint64_t)number(reader, out->bytes > 4 ? 4 : out->bytes);
  return true;
}

/* Loads of 1, 2 or 4 bytes into a wider register. */
static bool extend(struct reader* reader, uint8_t bytes, bool sign, struct vpci_instruction* out) {
  out->operation = VPCI_LOAD;
  out->bytes = bytes;
  out->sign = sign;
  out->result_bytes = operand_bytes(reader);
  return name_register(reader, memory_operand(reader, out), false, out);
}

static bool two_bytes(struct reader* reader, struct vpci_instruction* out) {
  uint8_t opcode = next(reader);

  switch (opcode) {
    case 0xB6:
    case 0xB7:
      return extend(reader, opcode & 1 ? 2 : 1, false, out);
    case 0xBE:
    case 0xBF:
      return extend(reader, opcode & 1 ? 2 : 1, true, out);
    default:
      return false;
  }
}

static bool string(struct reader* reader, uint8_t opcode, struct vpci_instruction* out) {
  out->operation = opcode < 0xA8 ? VPCI_MOVE_STRING : VPCI_STORE_STRING;
  out->bytes = opcode & 1 ? operand_bytes(reader) : 1;
  out->repeated = reader->rep;
  return true;
}

static bool instruction(struct reader* reader, uint8_t opcode, struct vpci_instruction* out) {
  switch (opcode) {
    case 0x0F:
      return two_bytes(reader, out);
    case 0x63:
      return extend(reader, 4, true, out);
    case 0x88:
    case 0x89:
    case 0x8A:
    case 0x8B:
      return move(reader, opcode, out);
    case 0xA4:
    case 0xA5:
    case 0xAA:
    case 0xAB:
      return string(reader, opcode, out);
    case 0xC6:
    case 0xC7:
      return move_immediate(reader, opcode, out);
    default:
      return false;
  }
}

bool vpci_decode(const uint8_t* code, size_t count, struct vpci_instruction* out) {
  struct reader reader = {.code = code, .count = count};
  bool known;

  memset(out, 0, sizeof *out);
  out->reg = VPCI_NO_REGISTER;
  out->base = VPCI_NO_REGISTER;
  out->index = VPCI_NO_REGISTER;
  known = instruction(&reader, prefixes(&reader), out);
  out->length = (uint8_t)reader.at;
  return known && !reader.short_code;
}
