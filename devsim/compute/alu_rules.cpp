// SPDX-License-Identifier: MIT
// Which ALU operations a record may name: those of spec 10 section 5.11 whose result is clear. What
// `not` or `abs` of two tensors is, the sign of `mod` and the polynomial of `crc32` are not.
#include <fmt/format.h>

#include "decoder.hpp"

namespace neffld::compute {
namespace {

bool is_bitwise(Alu alu) {
  return alu == Alu::bit_and || alu == Alu::bit_or || alu == Alu::bit_xor;
}
bool is_shift(Alu alu) {
  return alu == Alu::shift_left_signed || alu == Alu::shift_right_signed ||
         alu == Alu::shift_left || alu == Alu::shift_right;
}
bool is_integer_arithmetic(Alu alu) {
  return alu == Alu::int_add || alu == Alu::int_mult || alu == Alu::int_subtract;
}
/// Two fp32 arguments.
bool is_binary(Alu alu) {
  return (alu >= Alu::add && alu <= Alu::min) ||
         (alu >= Alu::logical_and && alu <= Alu::logical_xor) ||
         (alu >= Alu::eq && alu <= Alu::ne) || alu == Alu::pow;
}

std::string allowed_names(bool (*allowed)(Alu, Arch), Arch arch) {
  std::string names;
  for (unsigned code = 0; code < 256; ++code) {
    if (!allowed(static_cast<Alu>(code), arch)) continue;
    if (!names.empty()) names += ", ";
    names += alu_name(code);
  }
  return names;
}

}  // namespace

bool is_unary(Alu alu) {
  return alu == Alu::bypass || alu == Alu::abs || alu == Alu::rsqrt;
}

bool tensor_tensor_allows(Alu alu, Arch arch) {
  return is_binary(alu) || is_bitwise(alu) || is_shift(alu) ||
         (arch == Arch::v3 && is_integer_arithmetic(alu));
}

bool reduce_allows(Alu alu, Arch /*arch*/) {
  return alu == Alu::add || alu == Alu::mult || alu == Alu::max || alu == Alu::min ||
         is_bitwise(alu);
}

bool tensor_scalar_allows(Alu alu, Arch /*arch*/) {
  return is_binary(alu) || is_unary(alu);
}

bool Decoder::check_alu(std::size_t at, bool (*allowed)(Alu, Arch), Alu& alu) {
  const std::uint8_t code = u8(at);
  alu = static_cast<Alu>(code);
  if (allowed(alu, arch_)) return true;
  const std::string_view name = alu_name(code);
  return fail(at,
              fmt::format("{} is {} (0x{:02x}), expected one of {}", field_name(at),
                          name.empty() ? "unknown" : name, code, allowed_names(allowed, arch_)));
}

/// Bits have a meaning in one type only; arithmetic on integers may mix theirs.
bool Decoder::check_integers(std::size_t at, Alu alu, std::initializer_list<Dtype> dtypes) {
  if (!is_integer_alu(alu)) return true;
  const Dtype first = *dtypes.begin();
  for (const Dtype each : dtypes) {
    const bool same = is_integer_arithmetic(alu) || each == first;
    if (!is_float(each) && same) continue;
    return fail(at, fmt::format("{} is {} on {} and {}, expected {}", field_name(at),
                                alu_name(static_cast<std::uint32_t>(alu)),
                                dtype_name(static_cast<std::uint32_t>(first)),
                                dtype_name(static_cast<std::uint32_t>(each)),
                                is_integer_arithmetic(alu) ? "integers" : "one integer type"));
  }
  return true;
}

}  // namespace neffld::compute
