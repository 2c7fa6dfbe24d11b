// SPDX-License-Identifier: MIT
// Compute records (spec 10): one description per opcode, from which records are decoded, checked,
// executed and printed. Pure: no device, no state.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "neffld/arch.hpp"
#include "neffld/bytes.hpp"

namespace neffld::compute {

inline constexpr std::size_t record_bytes = 64;
inline constexpr std::uint32_t partition_count = 128;

/// Element types by their instruction code (spec 05 A1). Only those arithmetic is known for.
enum class Dtype : std::uint8_t {
  i8 = 2,
  u8 = 3,
  i16 = 4,
  u16 = 5,
  bf16 = 6,
  fp16 = 7,
  i32 = 8,
  u32 = 9,
  fp32 = 10,
};
/// Bytes of an element.
constexpr std::uint32_t element_bytes(Dtype dtype) {
  return dtype <= Dtype::u8 ? 1 : dtype <= Dtype::fp16 ? 2 : 4;
}
constexpr bool is_float(Dtype dtype) {
  return dtype == Dtype::bf16 || dtype == Dtype::fp16 || dtype == Dtype::fp32;
}
std::string_view dtype_name(std::uint32_t code);  ///< also of types not modelled; "" when unknown

/// ALU operations (spec 10 section 5.11).
enum class Alu : std::uint8_t {
  bypass = 0x00,
  bit_not = 0x01,
  shift_left_signed = 0x02,
  shift_right_signed = 0x03,
  add = 0x04,
  subtract = 0x05,
  mult = 0x06,
  divide = 0x07,
  max = 0x08,
  min = 0x09,
  bit_and = 0x0A,
  bit_or = 0x0B,
  bit_xor = 0x0C,
  logical_and = 0x0D,
  logical_or = 0x0E,
  logical_xor = 0x0F,
  shift_left = 0x10,
  shift_right = 0x11,
  eq = 0x12,
  gt = 0x13,
  ge = 0x14,
  le = 0x15,
  lt = 0x16,
  abs_diff = 0x17,
  ne = 0x18,
  abs = 0x19,
  pow = 0x1A,
  mod = 0x1B,
  crc32 = 0x1C,
  rsqrt = 0x1D,
  int_add = 0xC4,
  int_mult = 0xC5,
  int_subtract = 0xC6,
};
std::string_view alu_name(std::uint32_t code);  ///< "" when unknown
/// Operations on the bits or values of integers, not on fp32.
bool is_integer_alu(Alu alu);

// Descriptions ------------------------------------------------------------------------------------

enum class FieldKind : std::uint8_t {
  number,
  hex,
  dtype,
  dtype_pair,  ///< low nibble, high nibble
  alu_op,
  scalar,    ///< fp32, or the address of one value per partition: see `selector`
  address4,  ///< always such an address
  pattern3,  ///< T3: address, i16 step[3], u16 num[3]
  pattern4,  ///< T4: address, i16 step[4], u16 num[4]
};

/// The values a field may have.
struct Legal {
  std::uint32_t low = 0, high = 0xFFFF'FFFF;
};

struct Field {
  std::string_view name;
  std::uint8_t offset = 0, width = 0;  ///< bytes
  FieldKind kind = FieldKind::number;
  Legal v2, v3;                   ///< not of patterns, dtypes and operations
  std::uint8_t selector = 0;      ///< of scalar: the byte that says which form it has
  std::uint8_t pointer_code = 0;  ///< of scalar: the selector's value for an address
};

enum class Op : std::uint8_t {
  load_weights,
  matmul,
  activate,
  load_functions,
  tensor_tensor,
  reduce,
  tensor_scalar,
  copy,
  cast,
  reciprocal,
  memset,
};

/// Where a record says what one operand is.
struct OperandPlace {
  std::uint8_t pattern = 0;   ///< offset of its T3 or T4
  std::uint8_t dims = 0;      ///< 3 or 4; 0 = the record has no such operand
  std::uint8_t dtype = 0;     ///< offset of the dtype byte
  std::uint8_t shift = 0xFF;  ///< 0 or 4 when the dtype is a nibble, else 0xFF
  std::uint8_t channels = 0;  ///< offset of the number of partitions
};

struct Description {
  std::uint8_t opcode = 0;
  Op op = Op::copy;
  std::string_view name;
  std::span<const Field> fields;  ///< ascending by offset; every other payload byte is 0
  OperandPlace source, source1, destination;
};
/// nullptr: the opcode is not one of spec 10.
const Description* description_of(std::uint8_t opcode);

// Decoded records ---------------------------------------------------------------------------------

enum class Space : std::uint8_t { sbuf, psum };

/// An operand: the same elements in each of `partitions` partitions. Dims of one element are gone
/// and dims that continue each other are one, so a contiguous operand has one dim.
struct OperandView {
  Space space = Space::sbuf;
  Dtype dtype = Dtype::fp32;
  std::uint8_t partition = 0;  ///< the first
  std::uint8_t partitions = 0;
  std::uint8_t dims = 0;                 ///< 1 to 4
  std::uint32_t offset = 0;              ///< of the first element, bytes in its partition
  std::array<std::int32_t, 4> step{};    ///< bytes, innermost first
  std::array<std::uint32_t, 4> count{};  ///< elements
  std::uint32_t elements = 0;            ///< product of the counts
  std::uint32_t low = 0, high = 0;       ///< bytes of a partition it stays in: [low, high)
};

/// A value, or one value per partition.
struct ScalarOperand {
  bool pointer = false;
  float value = 0;
  Space space = Space::sbuf;
  Dtype dtype = Dtype::fp32;
  std::uint8_t partition = 0;
  std::uint32_t offset = 0;  ///< bytes in its partition
};

enum class Fp32Mode : std::uint8_t { whole16 = 0, low = 1, high = 2, both = 3 };

/// One record with all its checks passed. Members an operation does not have are zero.
struct Record {
  Op op = Op::copy;
  std::uint8_t opcode = 0;
  OperandView source, source1, destination;
  Fp32Mode fp32_mode = Fp32Mode::whole16;  ///< load_weights, matmul
  std::uint8_t rows = 0, columns = 0;      ///< load_weights, matmul: K and M
  bool transpose = false;                  ///< load_weights, matmul
  bool begin = false;                      ///< matmul: store instead of add
  std::uint8_t function = 0;               ///< activate: id; load_functions: index of the set
  ScalarOperand scale, bias;               ///< activate
  Alu alu0 = Alu::bypass, alu1 = Alu::bypass;
  bool reverse0 = false, reverse1 = false;  ///< tensor_scalar: scalar op value
  ScalarOperand scalar0, scalar1;           ///< tensor_scalar
  std::uint32_t reduced = 0;                ///< reduce: elements that become one
  bool negate = false;                      ///< reduce
  std::uint32_t value = 0;                  ///< memset: bits of an element
};

/// What is illegal or not modelled.
struct RecordError {
  std::uint8_t field = 0;  ///< byte offset in the record; 0 = the opcode
  std::string text;        ///< the value found and what is allowed, without a full stop
};

/// Checks and decodes the payload of a compute record for `arch`. The header (bytes 1 to 0x0B) is
/// not looked at. `record` has 64 bytes. What passes can be executed without touching a byte
/// outside its operands; only what depends on earlier records (loaded weights and functions) is
/// left to the execution.
tl::expected<Record, RecordError> decode(Bytes record, Arch arch);

/// Why the execution of `record` was refused at byte `field`: decode()'s sentence, or that of a
/// check which depends on the records before (weights and functions that are loaded).
std::string refusal_text(Bytes record, Arch arch, std::uint8_t field);

/// Whether `opcode` is executed by the compute side of a core: what decode may accept.
inline bool is_compute(std::uint8_t opcode) {
  return description_of(opcode) != nullptr;
}

}  // namespace neffld::compute
