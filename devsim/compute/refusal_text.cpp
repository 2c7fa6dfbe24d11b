// SPDX-License-Identifier: MIT
// Sentences for refusals of which only the byte is known (a device reports no more).
#include <fmt/format.h>

#include "neffld/compute_record.hpp"

namespace neffld::compute {
namespace {

std::string_view field_name(const Description& description, std::uint8_t at) {
  for (const Field& field : description.fields) {
    if (field.offset == at) return field.name;
  }
  return description.name;
}

/// decode() accepts the record, so it does not fit what ran before it.
std::string state_text(const Description& description, Bytes record, std::uint8_t field) {
  const unsigned value = record[field % record_bytes];
  switch (description.op) {
    case Op::matmul:
      if (field == 0) return "no weights are loaded, expected LDWEIGHTS before";
      if (field == 0x10) {
        return "moving is not zeros with at most one 1 an element, expected that to transpose with";
      }
      return fmt::format("{} is {}, expected that of the loaded weights",
                         field_name(description, field), value);
    case Op::activate:
      return fmt::format(
          "function is {}, expected one the loaded activation functions have and "
          "that needs no operand",
          value);
    case Op::load_functions:
      return fmt::format("set is {}, expected one of the loaded tables", value);
    default:
      return fmt::format("{} at byte 0x{:02x} was refused", field_name(description, field), field);
  }
}

}  // namespace

std::string refusal_text(Bytes record, Arch arch, std::uint8_t field) {
  const auto decoded = decode(record, arch);
  if (!decoded) return decoded.error().text;
  return state_text(*description_of(record[0]), record, field);
}

}  // namespace neffld::compute
