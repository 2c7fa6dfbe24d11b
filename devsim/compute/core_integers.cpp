// SPDX-License-Identifier: MIT
// Operations on the bits and values of integers. Rare, so plain loops.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core.hpp"

namespace neffld::compute {
namespace {

struct Limits64 {
  std::int64_t least, most;
};

bool is_signed(Dtype dtype) {
  return dtype == Dtype::i8 || dtype == Dtype::i16 || dtype == Dtype::i32;
}

Limits64 limits_of(Dtype dtype) {
  const unsigned bits = 8 * element_bytes(dtype);
  if (!is_signed(dtype)) return {0, (std::int64_t{1} << bits) - 1};
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

/// A raw element as its value.
std::int64_t value_of(std::uint32_t raw, Dtype dtype) {
  const unsigned unused = 64 - 8 * element_bytes(dtype);
  const auto high = static_cast<std::int64_t>(std::uint64_t{raw} << unused);
  return is_signed(dtype) ? high >> unused : static_cast<std::int64_t>(raw);
}

void decode_line(std::int64_t* to, const std::uint8_t* bits, Dtype dtype, std::size_t count) {
  const std::uint32_t size = element_bytes(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, bits + i * size, size);
    to[i] = value_of(raw, dtype);
  }
}

void encode_line(std::uint8_t* bits, const std::int64_t* from, Dtype dtype, std::size_t count) {
  const std::uint32_t size = element_bytes(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const auto raw = static_cast<std::uint32_t>(from[i]);
    std::memcpy(bits + i * size, &raw, size);
  }
}

/// Shifts by the width or more, and by negative counts, leave only copies of what is shifted in.
std::int64_t shift(Alu op, std::int64_t value, std::int64_t by, unsigned bits) {
  const bool whole = by < 0 || by >= static_cast<std::int64_t>(bits);
  const auto raw = static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << bits) - 1);
  switch (op) {
    case Alu::shift_right_signed:
      return (static_cast<std::int64_t>(raw << (64 - bits)) >> (64 - bits)) >>
             (whole ? bits - 1 : static_cast<unsigned>(by));
    case Alu::shift_right:
      return whole ? 0 : static_cast<std::int64_t>(raw >> by);
    default:
      return whole ? 0 : static_cast<std::int64_t>(raw << by);
  }
}

std::int64_t apply(Alu op, std::int64_t a, std::int64_t b, Dtype out) {
  const Limits64 limits = limits_of(out);
  switch (op) {
    case Alu::bit_and:
      return a & b;
    case Alu::bit_or:
      return a | b;
    case Alu::bit_xor:
      return a ^ b;
    case Alu::int_add:
      return std::clamp(a + b, limits.least, limits.most);
    case Alu::int_subtract:
      return std::clamp(a - b, limits.least, limits.most);
    case Alu::int_mult: {
      std::int64_t product = 0;  // u32 times u32 may not fit
      if (__builtin_mul_overflow(a, b, &product)) return limits.most;
      return std::clamp(product, limits.least, limits.most);
    }
    default:
      return shift(op, a, b, 8 * element_bytes(out));
  }
}

}  // namespace

void Core::combine_integers(const Record& record) {
  const Walk first = walk_of(record.source), second = walk_of(record.source1);
  const Walk to = walk_of(record.destination);
  const std::size_t count = first.elements;
  for (auto& values : integers_) values.resize(std::max(values.size(), count));
  bits_.resize(std::max(bits_.size(), count * sizeof(std::uint32_t)));
  std::int64_t* a = integers_[0].data();
  std::int64_t* b = integers_[1].data();
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    kernels_->load_bits(bits_.data(), at(record.source, p), first);
    decode_line(a, bits_.data(), first.dtype, count);
    kernels_->load_bits(bits_.data(), at(record.source1, p), second);
    decode_line(b, bits_.data(), second.dtype, count);
    for (std::size_t i = 0; i < count; ++i) a[i] = apply(record.alu0, a[i], b[i], to.dtype);
    encode_line(bits_.data(), a, to.dtype, count);
    kernels_->store_bits(at(record.destination, p), bits_.data(), to);
  }
}

void Core::reduce_integers(const Record& record) {
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  integers_[0].resize(std::max(integers_[0].size(), from.elements));
  bits_.resize(std::max(bits_.size(), from.elements * sizeof(std::uint32_t)));
  std::int64_t* values = integers_[0].data();
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    kernels_->load_bits(bits_.data(), at(record.source, p), from);
    decode_line(values, bits_.data(), from.dtype, from.elements);
    for (std::size_t i = 0; i < to.elements; ++i) {
      std::int64_t result = values[i * record.reduced];
      for (std::size_t j = 1; j < record.reduced; ++j) {
        result = apply(record.alu0, result, values[i * record.reduced + j], to.dtype);
      }
      values[i] = result;
    }
    encode_line(bits_.data(), values, to.dtype, to.elements);
    kernels_->store_bits(at(record.destination, p), bits_.data(), to);
  }
}

}  // namespace neffld::compute
