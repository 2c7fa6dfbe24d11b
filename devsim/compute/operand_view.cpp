// SPDX-License-Identifier: MIT
// Operands of compute records: addresses, patterns, element types (spec 10 section 3).
#include <fmt/format.h>

#include <algorithm>

#include "decoder.hpp"

namespace neffld::compute {
namespace {

constexpr std::uint32_t form_bits = 0xE000'0000;   // register, shape register, indirect
constexpr std::uint32_t space_bits = 0x1C00'0000;  // above PSUM: no memory
constexpr std::uint32_t quadrant = 32;
/// More elements than a partition has bytes: nothing real needs that, and buffers need a limit.
constexpr std::uint64_t most_elements = 0x3'8000;
constexpr std::uint32_t modelled_dtypes = 0x7FC;  // bit = code: 2 to 10

std::string dtype_text(std::uint32_t code) {
  const std::string_view name = dtype_name(code);
  return name.empty() ? fmt::format("{}", code) : fmt::format("{} ({})", name, code);
}

/// A pattern as it lies in the record.
struct Pattern {
  std::array<std::int64_t, 4> step{};  ///< bytes
  std::array<std::uint32_t, 4> count{};
  std::size_t dims = 0;
};

Pattern read_pattern(Bytes record, const OperandPlace& place, Dtype dtype, Mutation mutation) {
  Pattern pattern;
  pattern.dims = place.dims;
  const std::int64_t unit = mutation == Mutation::steps_in_bytes ? 1 : element_bytes(dtype);
  const std::size_t steps = place.pattern + 4u, counts = steps + 2u * place.dims;
  for (std::size_t i = 0; i < place.dims; ++i) {
    const std::size_t to = mutation == Mutation::dims_reversed ? place.dims - 1 - i : i;
    pattern.step[to] =
        unit * static_cast<std::int16_t>(load_le<std::uint16_t>(record, steps + 2 * i));
    pattern.count[to] = load_le<std::uint16_t>(record, counts + 2 * i);
  }
  return pattern;
}

/// Drops dims of one element and joins dims that continue each other.
void merge(const Pattern& pattern, OperandView& view) {
  for (std::size_t i = 0; i < pattern.dims; ++i) {
    if (pattern.count[i] == 1) continue;
    const std::size_t last = view.dims == 0 ? 0 : view.dims - 1u;
    if (view.dims != 0 && pattern.step[i] == std::int64_t{view.step[last]} * view.count[last]) {
      view.count[last] *= pattern.count[i];
      continue;
    }
    view.step[view.dims] = static_cast<std::int32_t>(pattern.step[i]);
    view.count[view.dims] = pattern.count[i];
    ++view.dims;
  }
  if (view.dims != 0) return;
  view.dims = 1;
  view.step[0] = static_cast<std::int32_t>(element_bytes(view.dtype));
  view.count[0] = 1;
}

std::string_view space_name(Space space) {
  return space == Space::psum ? "PSUM" : "SBUF";
}

}  // namespace

const Limits* limits_of(Arch arch) {
  static constexpr Limits v2{0x3'0000}, v3{0x3'8000};
  return arch == Arch::v2 ? &v2 : arch == Arch::v3 ? &v3 : nullptr;
}

bool Decoder::decode_dtype(std::size_t at, std::uint8_t shift, Dtype& dtype) {
  const std::uint32_t code = shift == 0xFF ? u8(at) : u8(at) >> shift & 0xFu;
  if (code < 32 && (modelled_dtypes >> code & 1) != 0) {
    dtype = static_cast<Dtype>(code);
    return true;
  }
  return fail(at, fmt::format("{} has element type {}, expected i8, u8, i16, u16, bf16, fp16, i32, "
                              "u32 or fp32 (2 to 10)",
                              field_name(at), dtype_text(code)));
}

/// A start in a quadrant may reach as far as spec 10 section 3.2 says.
bool Decoder::check_partitions(std::size_t at, std::uint32_t first, std::uint32_t channels) {
  constexpr std::array<std::uint32_t, 4> reach = {128, 32, 64, 32};
  if (first % quadrant != 0) {
    return fail(at, fmt::format("{} starts at partition {}, expected 0, 32, 64 or 96",
                                field_name(at), first));
  }
  if (channels <= reach[first / quadrant]) return true;
  return fail(at, fmt::format("{} has {} partitions from partition {}, expected at most {}",
                              field_name(at), channels, first, reach[first / quadrant]));
}

bool Decoder::decode_place(std::size_t at, Dtype dtype, std::uint32_t channels, Place& place) {
  const std::uint32_t address = u32(at);
  if ((address & form_bits) != 0) {
    return fail(at, fmt::format("{} has address 0x{:08x}, a register or indirect form, expected a "
                                "plain address",
                                field_name(at), address));
  }
  place.space = (address & psum_address) != 0 ? Space::psum : Space::sbuf;
  const std::uint32_t stride = place.space == Space::psum ? psum_stride : sbuf_stride;
  const std::uint32_t inside = address & (psum_address - 1);
  if ((address & space_bits) != 0 || inside / stride >= partition_count) {
    return fail(at, fmt::format("{} has address 0x{:08x}, expected SBUF (below 0x{:x}) or PSUM "
                                "(0x{:x} to 0x{:x})",
                                field_name(at), address, psum_address, psum_address,
                                psum_address + psum_stride * partition_count - 1));
  }
  place.partition = static_cast<std::uint8_t>(inside / stride);
  place.offset = inside % stride;
  if (place.offset % element_bytes(dtype) != 0) {
    return fail(at, fmt::format("{} has address 0x{:08x}, expected a multiple of {}, the size of "
                                "its {} elements",
                                field_name(at), address, element_bytes(dtype),
                                dtype_name(static_cast<std::uint32_t>(dtype))));
  }
  return check_partitions(at, place.partition, channels);
}

/// The element type of `view` is already there.
bool Decoder::decode_view(const OperandPlace& from, OperandView& view) {
  view.partitions = u8(from.channels);
  Place place;
  if (!decode_place(from.pattern, view.dtype, view.partitions, place)) return false;
  view.space = place.space;
  view.partition = place.partition;
  view.offset = place.offset;
  const Pattern pattern = read_pattern(record_, from, view.dtype, mutation_);
  std::int64_t low = view.offset, high = view.offset + element_bytes(view.dtype);
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < pattern.dims; ++i) {
    elements *= pattern.count[i];
    if (elements == 0 || elements > most_elements) {
      return fail(
          from.pattern,
          fmt::format("{} has {}{} elements, expected 1 to {}", field_name(from.pattern), elements,
                      elements != 0 && i + 1 < pattern.dims ? " or more" : "", most_elements));
    }
    const std::int64_t reach = pattern.step[i] * (std::int64_t{pattern.count[i]} - 1);
    (reach < 0 ? low : high) += reach;
  }
  if (low < 0 || high > partition_bytes(view.space)) {
    return fail(from.pattern,
                fmt::format("{} reaches bytes {} to {} of its {} partitions, expected 0 to {}",
                            field_name(from.pattern), low, high - 1, space_name(view.space),
                            partition_bytes(view.space) - 1));
  }
  view.elements = static_cast<std::uint32_t>(elements);
  view.low = static_cast<std::uint32_t>(low);
  view.high = static_cast<std::uint32_t>(high);
  merge(pattern, view);
  return true;
}

/// Reads the value, or the place of one value for each partition of the source.
bool Decoder::decode_scalar(std::size_t at, bool pointer, Dtype dtype, ScalarOperand& scalar) {
  scalar.pointer = pointer;
  if (!pointer) {
    scalar.value = load_le<float>(record_, at);
    return true;
  }
  Place place;
  scalar.dtype = dtype;
  if (!decode_place(at, dtype, out_.source.partitions, place)) return false;
  scalar.space = place.space;
  scalar.partition = place.partition;
  scalar.offset = place.offset;
  if (place.offset + element_bytes(dtype) <= partition_bytes(place.space)) return true;
  return fail(at, fmt::format("{} is at byte {} of its {} partitions, expected at most {}",
                              field_name(at), place.offset, space_name(place.space),
                              partition_bytes(place.space) - element_bytes(dtype)));
}

}  // namespace neffld::compute
