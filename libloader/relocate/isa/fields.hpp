// SPDX-License-Identifier: MIT
// What the bytes of a record mean: one description per opcode, for every architecture (a byte never
// changes its meaning between generations, spec 05 A2). Sources: spec 05 A4 and A5, 08 s4.2, 10 s5.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace neffld::isa {

enum class FieldKind : std::uint8_t {
  number,  ///< unsigned
  signed_number,
  hex,
  dtype,       ///< dtype code (05 A1)
  dtype_pair,  ///< low nibble, high nibble
  alu_op,
  scalar,    ///< fp32, or address4 of one value per partition: see `selector` (10 s5)
  address4,  ///< SBUF or PSUM address of a compute operand (10 s3.2)
  pattern3,  ///< T3: address4, i16 step[3], u16 num[3]
  pattern4,  ///< T4: address4, i16 step[4], u16 num[4]
  address8,  ///< device address, marker in byte 7 (05 A3)
  pseudo8,   ///< address8 or var-id form (05 A3)
  variable,  ///< u32 var_id
  reg,       ///< device register address
  text,      ///< NUL padded
  label,     ///< branch label id
  pair32,    ///< two u32 immediates that together are an address
};

struct Field {
  std::string_view name;
  std::uint8_t offset = 0, width = 0;  ///< bytes
  FieldKind kind = FieldKind::number;
  std::uint8_t selector = 0, pointer_code = 0;  ///< scalar: an address if that byte has this value
};

/// Payload fields of an opcode, ascending by offset; empty when nothing is known about it. Those of
/// compute records are neffld/compute_record.hpp's. The common header (bytes 0 to 0x0B) is not
/// repeated, except where a record has none.
std::span<const Field> fields_of(std::uint8_t opcode);

/// Records whose bytes 4 to 0x0B are payload instead of a wait and an update (05 A4: EXTENSION).
bool has_events(std::uint8_t opcode);

std::string_view dtype_name(std::uint32_t code);   ///< "" when unknown
std::string_view alu_op_name(std::uint32_t code);  ///< "" when unknown

}  // namespace neffld::isa
