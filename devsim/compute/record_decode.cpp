// SPDX-License-Identifier: MIT
// decode(): the description's checks, then what each operation adds (spec 10 sections 5 and 12).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "decoder.hpp"

namespace neffld::compute {
namespace {

constexpr std::size_t payload = 0x0C;              // behind opcode, debug bytes and events
constexpr std::uint32_t most_columns_moved = 512;  // fp32 of one PSUM bank
constexpr std::uint8_t accumulate_begin = 1;
constexpr std::uint8_t function_parametric_relu = 4;

bool has_values(FieldKind kind) {
  return kind == FieldKind::number || kind == FieldKind::hex || kind == FieldKind::dtype;
}

std::uint32_t load_field(Bytes record, const Field& field) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < field.width; ++i) {
    value |= std::uint32_t{record[field.offset + i]} << (8 * i);
  }
  return value;
}

std::string_view name_of(Dtype dtype) {
  return dtype_name(static_cast<std::uint32_t>(dtype));
}

}  // namespace

bool Decoder::fail(std::size_t field, std::string text) {
  error_ = RecordError{static_cast<std::uint8_t>(field), std::move(text)};
  return false;
}

std::string_view Decoder::field_name(std::size_t at) const {
  for (const Field& field : description_->fields) {
    if (field.offset == at) return field.name;
  }
  return description_->name;
}

bool Decoder::check_fields() {
  for (const Field& field : description_->fields) {
    if (!has_values(field.kind)) continue;
    const Legal legal = arch_ == Arch::v2 ? field.v2 : field.v3;
    const std::uint32_t value = load_field(record_, field);
    if (value >= legal.low && value <= legal.high) continue;
    const std::string allowed = legal.low == legal.high
                                    ? fmt::format("{}", legal.low)
                                    : fmt::format("{} to {}", legal.low, legal.high);
    return fail(field.offset, fmt::format("{} is {}, expected {}", field.name, value, allowed));
  }
  return true;
}

bool Decoder::check_gaps() {
  std::size_t at = payload;
  const auto zero_up_to = [&](std::size_t end) {
    for (; at < end; ++at) {
      if (record_[at] == 0) continue;
      return fail(at, fmt::format("byte 0x{:02x} is 0x{:02x}, expected 0: it has no known meaning",
                                  at, record_[at]));
    }
    return true;
  };
  for (const Field& field : description_->fields) {
    if (!zero_up_to(field.offset)) return false;
    at = std::size_t{field.offset} + field.width;
  }
  return zero_up_to(record_bytes);
}

bool Decoder::decode_operand(const OperandPlace& place, OperandView& view) {
  if (place.dims == 0) return true;
  const Op op = description_->op;
  const bool swapped =
      (mutation_ == Mutation::nibbles_of_tensor_tensor_swapped && op == Op::tensor_tensor) ||
      (mutation_ == Mutation::nibbles_of_activate_swapped && op == Op::activate);
  const bool is_nibble = place.shift != 0xFF;
  const std::uint8_t shift =
      swapped && is_nibble ? static_cast<std::uint8_t>(4 - place.shift) : place.shift;
  return decode_dtype(place.dtype, shift, view.dtype) && decode_view(place, view);
}

/// MATMUL writes fp32, or what it read when it transposes; its own dtype byte is the source's.
bool Decoder::decode_operands() {
  if (!decode_operand(description_->source, out_.source) ||
      !decode_operand(description_->source1, out_.source1)) {
    return false;
  }
  if (description_->op != Op::matmul) {
    return decode_operand(description_->destination, out_.destination);
  }
  const bool moves_bits = u8(0x22) != 0 && mutation_ != Mutation::transpose_writes_fp32;
  out_.destination.dtype = moves_bits ? out_.source.dtype : Dtype::fp32;
  return decode_view(description_->destination, out_.destination);
}

bool Decoder::same_elements(std::size_t at, const OperandView& view, std::uint64_t expected,
                            std::string_view of) {
  if (view.elements == expected) return true;
  return fail(at, fmt::format("{} has {} elements, expected the {} of {}", field_name(at),
                              view.elements, expected, of));
}

/// What LDWEIGHTS and MATMUL share.
bool Decoder::decode_array() {
  const OperandView& source = out_.source;
  if (!is_float(source.dtype)) {
    return fail(0x20,
                fmt::format("dtype is {}, expected bf16, fp16 or fp32", name_of(source.dtype)));
  }
  if (source.space != Space::sbuf) {
    return fail(0x10, fmt::format("{} is in PSUM, expected SBUF", field_name(0x10)));
  }
  out_.fp32_mode = static_cast<Fp32Mode>(u8(0x21));
  out_.transpose = u8(0x22) != 0;
  out_.rows = u8(0x26);
  out_.columns = u8(0x27);
  if (source.dtype == Dtype::fp32 || out_.fp32_mode == Fp32Mode::whole16) return true;
  return fail(0x21,
              fmt::format("fp32_mode is {} on {}, expected 0", u8(0x21), name_of(source.dtype)));
}

bool Decoder::decode_load_weights() {
  return decode_array() && same_elements(0x10, out_.source, out_.columns, "columns");
}

bool Decoder::decode_matmul() {
  if (!decode_array()) return false;
  const std::uint8_t flags = u8(0x2B);
  const Fp32Mode mode = out_.fp32_mode;
  out_.begin = (flags & accumulate_begin) != 0;
  if (!out_.transpose && (mode == Fp32Mode::low || mode == Fp32Mode::high)) {
    return fail(0x21, fmt::format("fp32_mode is {}, expected 0 or 3: passes are made by the "
                                  "weights only",
                                  u8(0x21)));
  }
  if (out_.transpose && !out_.begin) {
    return fail(0x2B, fmt::format("accumulate is {} with transpose, expected 1 or 3", flags));
  }
  if (out_.destination.space != Space::psum) {
    return fail(0x30, "dst is in SBUF, expected PSUM");
  }
  if (out_.source.elements > most_columns_moved) {
    return fail(0x10, fmt::format("moving has {} elements, expected 1 to {}", out_.source.elements,
                                  most_columns_moved));
  }
  return same_elements(0x30, out_.destination, out_.source.elements, "moving");
}

bool Decoder::decode_activate() {
  out_.function = u8(0x23);
  if (out_.function == function_parametric_relu) {
    return fail(0x23, "function is 4 (parametric_relu), whose operand is not known");
  }
  const bool bias_pointer = u8(0x0F) == 0;
  Dtype bias_dtype = Dtype::fp32;
  if (bias_pointer) {
    const bool swapped = mutation_ == Mutation::nibbles_of_activate_swapped;
    if (!decode_dtype(0x20, swapped ? 0 : 4, bias_dtype)) return false;
  }
  return decode_scalar(0x24, u8(0x0D) == 1, Dtype::fp32, out_.scale) &&
         decode_scalar(0x28, bias_pointer, bias_dtype, out_.bias) &&
         same_elements(0x30, out_.destination, out_.source.elements, "src");
}

bool Decoder::decode_tensor_tensor() {
  return check_alu(0x0E, tensor_tensor_allows, out_.alu0) &&
         check_integers(0x0E, out_.alu0,
                        {out_.source.dtype, out_.source1.dtype, out_.destination.dtype}) &&
         same_elements(0x20, out_.source1, out_.source.elements, "src0") &&
         same_elements(0x30, out_.destination, out_.source.elements, "src0");
}

bool Decoder::decode_reduce() {
  unsigned dims = u8(0x25) - 1u;
  if (mutation_ == Mutation::axis_one_more) dims = std::min(dims + 1, 4u);
  if (mutation_ == Mutation::axis_one_less && dims > 1) --dims;
  out_.reduced = 1;
  for (unsigned i = 0; i < dims; ++i) {
    const std::size_t counts = description_->source.pattern + 12u;
    out_.reduced *= load_le<std::uint16_t>(record_, counts + 2 * i);
  }
  out_.negate = u8(0x23) != 0 && mutation_ != Mutation::negate_ignored;
  if (!check_alu(0x24, reduce_allows, out_.alu0) ||
      !check_integers(0x24, out_.alu0, {out_.source.dtype, out_.destination.dtype})) {
    return false;
  }
  if (is_integer_alu(out_.alu0) && u8(0x23) != 0) {
    return fail(0x23, fmt::format("negate is 1 with {}, expected 0",
                                  alu_name(static_cast<std::uint32_t>(out_.alu0))));
  }
  return same_elements(0x2C, out_.destination, out_.source.elements / out_.reduced,
                       "src after reduction");
}

bool Decoder::decode_tensor_scalar() {
  const std::uint8_t reverse = u8(0x26);
  out_.reverse0 = (reverse & 1) != 0;
  out_.reverse1 = (reverse & 2) != 0;
  if (!check_alu(0x24, tensor_scalar_allows, out_.alu0) ||
      !check_alu(0x25, tensor_scalar_allows, out_.alu1)) {
    return false;
  }
  if ((out_.reverse0 && is_unary(out_.alu0)) || (out_.reverse1 && is_unary(out_.alu1))) {
    return fail(0x26, fmt::format("reverse is {} for an operation of one argument, expected 0 in "
                                  "its bit",
                                  reverse));
  }
  if (!is_unary(out_.alu0) && !decode_scalar(0x28, u8(0x23) == 1, Dtype::fp32, out_.scalar0)) {
    return false;
  }
  if (!is_unary(out_.alu1) && !decode_scalar(0x2C, u8(0x27) == 1, Dtype::fp32, out_.scalar1)) {
    return false;
  }
  return same_elements(0x30, out_.destination, out_.source.elements, "src");
}

bool Decoder::decode_copy() {
  if (out_.op == Op::copy && out_.source.dtype != out_.destination.dtype) {
    return fail(0x21, fmt::format("out_dtype is {}, expected {}, the source's: COPY moves bits",
                                  name_of(out_.destination.dtype), name_of(out_.source.dtype)));
  }
  return same_elements(0x2C, out_.destination, out_.source.elements, "src");
}

bool Decoder::decode_memset() {
  out_.value = u32(0x28);
  const std::uint32_t bits = 8 * element_bytes(out_.destination.dtype);
  if (bits < 32 && out_.value >> bits != 0) {
    return fail(0x28, fmt::format("value is 0x{:x}, expected at most {} bits for {}", out_.value,
                                  bits, name_of(out_.destination.dtype)));
  }
  if (u32(0x1C) == out_.destination.elements) return true;
  return fail(0x1C, fmt::format("elements is {}, expected the {} of dst", u32(0x1C),
                                out_.destination.elements));
}

bool Decoder::decode_operation() {
  switch (out_.op) {
    case Op::load_weights:
      return decode_load_weights();
    case Op::matmul:
      return decode_matmul();
    case Op::activate:
      return decode_activate();
    case Op::load_functions:
      out_.function = u8(0x23);
      return true;
    case Op::tensor_tensor:
      return decode_tensor_tensor();
    case Op::reduce:
      return decode_reduce();
    case Op::tensor_scalar:
      return decode_tensor_scalar();
    case Op::copy:
    case Op::cast:
    case Op::reciprocal:
      return decode_copy();
    case Op::memset:
      return decode_memset();
  }
  return false;
}

tl::expected<Record, RecordError> Decoder::run() {
  description_ = description_of(u8(0));
  limits_ = limits_of(arch_);
  if (description_ == nullptr) {
    fail(0, fmt::format("compute opcode 0x{:02x} is not modelled", u8(0)));
  } else if (limits_ == nullptr) {
    fail(0, fmt::format("compute of architecture {} is not modelled, expected 2 or 3",
                        static_cast<std::uint32_t>(arch_)));
  } else {
    out_.op = description_->op;
    out_.opcode = description_->opcode;
    if (check_fields() && check_gaps() && decode_operands() && decode_operation()) return out_;
  }
  return tl::unexpected<RecordError>(std::move(*error_));
}

tl::expected<Record, RecordError> decode(Bytes record, Arch arch) {
  return Decoder(record, arch, Mutation::none).run();
}

tl::expected<Record, RecordError> decode_mutated(Bytes record, Arch arch, Mutation mutation) {
  return Decoder(record, arch, mutation).run();
}

}  // namespace neffld::compute
