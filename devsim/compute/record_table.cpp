// SPDX-License-Identifier: MIT
// The description of every compute record (spec 10 section 5) as data.
#include "neffld/compute_record.hpp"

namespace neffld::compute {
namespace {

using K = FieldKind;

constexpr Legal any{};
constexpr Legal zero{0, 0};
constexpr Legal range(std::uint32_t low, std::uint32_t high) {
  return {low, high};
}
constexpr Legal partitions = range(1, partition_count);
/// 32-row or 32-column groups in use: which of them changes nothing (section 5.1).
constexpr Legal groups = range(1, 0x0F);
constexpr Legal boolean = range(0, 1);
/// Immediates and scales: inline or an address; from a register is not modelled.
constexpr Legal inline_or_pointer = range(0, 1);

constexpr Field field(std::string_view name, std::uint8_t offset, std::uint8_t width, K kind,
                      Legal legal = any) {
  return {name, offset, width, kind, legal, legal};
}
constexpr Field field(std::string_view name, std::uint8_t offset, std::uint8_t width, K kind,
                      Legal v2, Legal v3) {
  return {name, offset, width, kind, v2, v3};
}
constexpr Field scalar(std::string_view name, std::uint8_t offset, std::uint8_t selector,
                       std::uint8_t pointer_code) {
  return {name, offset, 4, K::scalar, any, any, selector, pointer_code};
}

// A dtype's own check says more than a list of codes could, so dtype fields are `any` here.
constexpr Field load_weights[] = {field("src", 0x10, 16, K::pattern3),
                                  field("dtype", 0x20, 1, K::dtype),
                                  field("fp32_mode", 0x21, 1, K::number, range(0, 3)),
                                  field("transpose", 0x22, 1, K::number, zero, boolean),
                                  field("perf_opt", 0x23, 1, K::number, zero),
                                  field("quant", 0x24, 2, K::number, zero),
                                  field("rows", 0x26, 1, K::number, partitions),
                                  field("columns", 0x27, 1, K::number, partitions),
                                  field("row_group", 0x2C, 1, K::hex, groups),
                                  field("column_group", 0x2D, 1, K::hex, groups),
                                  field("xbus", 0x2E, 1, K::hex, any, zero)};
constexpr Field matmul[] = {field("moving", 0x10, 16, K::pattern3),
                            field("dtype", 0x20, 1, K::dtype),
                            field("fp32_mode", 0x21, 1, K::number, range(0, 3)),
                            field("transpose", 0x22, 1, K::number, zero, boolean),
                            field("perf_opt", 0x23, 1, K::number, zero),
                            field("quant", 0x24, 1, K::number, zero),
                            field("rows", 0x26, 1, K::number, partitions),
                            field("columns", 0x27, 1, K::number, partitions),
                            field("out_dtype", 0x28, 1, K::dtype, zero),
                            field("accumulate", 0x2B, 1, K::hex, range(0, 3)),
                            field("row_group", 0x2C, 1, K::hex, groups),
                            field("column_group", 0x2D, 1, K::hex, groups),
                            field("xbus", 0x2E, 1, K::hex, any, zero),
                            field("zero_region", 0x2F, 1, K::number, zero),
                            field("dst", 0x30, 16, K::pattern3)};
constexpr Field activate[] = {field("imm_src", 0x0C, 1, K::number, inline_or_pointer),
                              field("scale_src", 0x0D, 1, K::number, inline_or_pointer),
                              field("accumulator", 0x0E, 1, K::number, zero),
                              field("bias_src", 0x0F, 1, K::number, inline_or_pointer),
                              field("src", 0x10, 16, K::pattern3),
                              field("in,bias dtype", 0x20, 1, K::dtype_pair),
                              field("out_dtype", 0x21, 1, K::dtype),
                              field("partitions", 0x22, 1, K::number, partitions),
                              field("function", 0x23, 1, K::number),
                              scalar("scale", 0x24, 0x0D, 1),
                              scalar("bias", 0x28, 0x0F, 0),
                              field("imm", 0x2C, 4, K::hex, zero),
                              field("dst", 0x30, 16, K::pattern3)};
constexpr Field load_functions[] = {field("set", 0x23, 1, K::number)};
constexpr Field tensor_tensor[] = {
    field("dtypes", 0x0C, 1, K::dtype_pair), field("out_dtype", 0x0D, 1, K::dtype),
    field("op", 0x0E, 1, K::alu_op),         field("partitions", 0x0F, 1, K::number, partitions),
    field("src0", 0x10, 16, K::pattern3),    field("src1", 0x20, 16, K::pattern3),
    field("dst", 0x30, 16, K::pattern3)};
constexpr Field reduce[] = {field("src", 0x0C, 20, K::pattern4),
                            field("in_dtype", 0x20, 1, K::dtype),
                            field("out_dtype", 0x21, 1, K::dtype),
                            field("partitions", 0x22, 1, K::number, partitions),
                            field("negate", 0x23, 1, K::number, boolean),
                            field("op", 0x24, 1, K::alu_op),
                            field("axis", 0x25, 1, K::number, range(2, 5)),
                            field("mask", 0x26, 1, K::hex, zero),
                            field("dst", 0x2C, 20, K::pattern4)};
constexpr Field tensor_scalar[] = {field("accumulator", 0x0C, 1, K::number, zero),
                                   field("src", 0x10, 16, K::pattern3),
                                   field("in_dtype", 0x20, 1, K::dtype),
                                   field("out_dtype", 0x21, 1, K::dtype),
                                   field("partitions", 0x22, 1, K::number, partitions),
                                   field("imm0_src", 0x23, 1, K::number, inline_or_pointer),
                                   field("op0", 0x24, 1, K::alu_op),
                                   field("op1", 0x25, 1, K::alu_op),
                                   field("reverse", 0x26, 1, K::hex, range(0, 3)),
                                   field("imm1_src", 0x27, 1, K::number, inline_or_pointer),
                                   scalar("imm0", 0x28, 0x23, 1),
                                   scalar("imm1", 0x2C, 0x27, 1),
                                   field("dst", 0x30, 16, K::pattern3)};
constexpr auto tensor_scalar_pointer = [] {
  auto fields = std::to_array(tensor_scalar);
  for (Field& each : fields) {
    if (each.offset == 0x23) each.v2 = each.v3 = range(1, 1);
    if (each.offset == 0x28) each.kind = K::address4;
  }
  return fields;
}();
constexpr Field copy[] = {field("src", 0x0C, 20, K::pattern4), field("in_dtype", 0x20, 1, K::dtype),
                          field("out_dtype", 0x21, 1, K::dtype),
                          field("partitions", 0x22, 1, K::number, partitions),
                          field("dst", 0x2C, 20, K::pattern4)};
constexpr Field memset_fields[] = {field("elements", 0x1C, 4, K::number),
                                   field("dtype", 0x20, 1, K::dtype),
                                   field("partitions", 0x22, 1, K::number, partitions),
                                   field("serial", 0x24, 1, K::number, zero),
                                   field("value", 0x28, 4, K::hex),
                                   field("dst", 0x2C, 20, K::pattern4)};

constexpr OperandPlace none{};
constexpr std::uint8_t whole = 0xFF, low_nibble = 0, high_nibble = 4;
constexpr OperandPlace copy_source{0x0C, 4, 0x20, whole, 0x22};
constexpr OperandPlace copy_destination{0x2C, 4, 0x21, whole, 0x22};
constexpr OperandPlace scalar_source{0x10, 3, 0x20, whole, 0x22};
constexpr OperandPlace scalar_destination{0x30, 3, 0x21, whole, 0x22};

constexpr Description descriptions[] = {
    {0x01, Op::load_weights, "LDWEIGHTS", load_weights, {0x10, 3, 0x20, whole, 0x26}, none, none},
    {0x02,
     Op::matmul,
     "MATMUL",
     matmul,
     {0x10, 3, 0x20, whole, 0x26},
     none,
     {0x30, 3, 0x20, whole, 0x27}},
    {0x21,
     Op::activate,
     "ACTIVATE",
     activate,
     {0x10, 3, 0x20, low_nibble, 0x22},
     none,
     scalar_destination},
    {0x23, Op::load_functions, "ACTIVATION_TABLE_LOAD", load_functions, none, none, none},
    {0x41,
     Op::tensor_tensor,
     "TENSOR_TENSOR",
     tensor_tensor,
     {0x10, 3, 0x0C, low_nibble, 0x0F},
     {0x20, 3, 0x0C, high_nibble, 0x0F},
     {0x30, 3, 0x0D, whole, 0x0F}},
    {0x42, Op::reduce, "TENSOR_REDUCE", reduce, copy_source, none, copy_destination},
    {0x43, Op::tensor_scalar, "TENSOR_SCALAR", tensor_scalar, scalar_source, none,
     scalar_destination},
    {0x44, Op::tensor_scalar, "TENSOR_SCALAR_PTR", tensor_scalar_pointer, scalar_source, none,
     scalar_destination},
    {0x46, Op::copy, "COPY", copy, copy_source, none, copy_destination},
    {0x47, Op::cast, "CAST", copy, copy_source, none, copy_destination},
    {0x48, Op::reciprocal, "RECIPROCAL", copy, copy_source, none, copy_destination},
    {0x49, Op::memset, "MEMSET", memset_fields, none, none, {0x2C, 4, 0x20, whole, 0x22}},
};

constexpr auto index = [] {
  std::array<const Description*, 256> by_opcode{};
  for (const Description& each : descriptions) by_opcode[each.opcode] = &each;
  return by_opcode;
}();

}  // namespace

const Description* description_of(std::uint8_t opcode) {
  return index[opcode];
}

std::string_view dtype_name(std::uint32_t code) {
  constexpr std::array<std::string_view, 17> names = {
      "",    "u64",  "i8",    "u8",  "i16",   "u16",   "bf16",  "fp16", "i32",
      "u32", "fp32", "fp32r", "i64", "fp8e3", "fp8e4", "fp8e5", "fp4"};
  return code < names.size() ? names[code] : std::string_view();
}

std::string_view alu_name(std::uint32_t code) {
  constexpr std::array<std::string_view, 0x1E> names = {"bypass",
                                                        "not",
                                                        "shift-left-signed",
                                                        "shift-right-signed",
                                                        "add",
                                                        "sub",
                                                        "mult",
                                                        "divide",
                                                        "max",
                                                        "min",
                                                        "and",
                                                        "or",
                                                        "xor",
                                                        "logical-and",
                                                        "logical-or",
                                                        "logical-xor",
                                                        "shift-left",
                                                        "shift-right",
                                                        "eq",
                                                        "gt",
                                                        "ge",
                                                        "le",
                                                        "lt",
                                                        "abs-diff",
                                                        "ne",
                                                        "abs",
                                                        "pow",
                                                        "mod",
                                                        "crc32",
                                                        "rsqrt"};
  if (code < names.size()) return names[code];
  switch (code) {
    case 0xC4:
      return "int-add";
    case 0xC5:
      return "int-mult";
    case 0xC6:
      return "int-sub";
    default:
      return {};
  }
}

bool is_integer_alu(Alu alu) {
  switch (alu) {
    case Alu::bit_not:
    case Alu::shift_left_signed:
    case Alu::shift_right_signed:
    case Alu::bit_and:
    case Alu::bit_or:
    case Alu::bit_xor:
    case Alu::shift_left:
    case Alu::shift_right:
    case Alu::int_add:
    case Alu::int_mult:
    case Alu::int_subtract:
      return true;
    default:
      return false;
  }
}

}  // namespace neffld::compute
