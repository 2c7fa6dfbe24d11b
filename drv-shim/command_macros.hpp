// SPDX-License-Identifier: MIT
// Shorthand of the command table's rows, so that offsets and sizes come from the structs.
#pragma once

#include <cstddef>

#include "neuron_abi/ioctl.h"

#define ROW_FIELD(type, field, name, kind, reply)                                            \
  ::neffld::shim::CommandField {                                                             \
    name, offsetof(type, field), sizeof(type::field), ::neffld::shim::FieldKind::kind, reply \
  }
#define IN(type, field) ROW_FIELD(type, field, #field, number, false)
#define IN_HEX(type, field) ROW_FIELD(type, field, #field, hex, false)
#define OUT(type, field) ROW_FIELD(type, field, #field, number, true)
#define OUT_HEX(type, field) ROW_FIELD(type, field, #field, hex, true)
#define PID(type, field) ROW_FIELD(type, field, #field, pid, true)
#define POINTER(type, field) ROW_FIELD(type, field, #field, pointer, false)
#define CHANGING(type, field) ROW_FIELD(type, field, #field, changing, true)
/* An input the real driver overwrites with a kernel pointer (spec 06 section 4.5). */
#define LOST(type, field) ROW_FIELD(type, field, #field, number, false)

#define FIXED(number) \
  { number, 0, 0, 0 }
#define COUNTED(type, field, each) \
  { 0, offsetof(type, field), sizeof(type::field), each }
#define COUNTED_FROM(first, type, field, each) \
  { first, offsetof(type, field), sizeof(type::field), each }
#define SKIP(type, field) COUNTED(type, field, 1)

#define SENT \
  { true, 0 }
#define RECEIVED \
  { false, 0 }
#define BY(type, field) \
  { false, offsetof(type, field) }
