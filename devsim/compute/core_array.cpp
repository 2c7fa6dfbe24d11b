// SPDX-License-Identifier: MIT
// The matrix unit (spec 10 sections 5.1 and 5.2). fp32 weights come twice: mode 2 loads the whole
// value and mode 1 nothing, which adds up to it; the product with nothing is skipped.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core.hpp"

namespace neffld::compute {
namespace {

constexpr std::size_t rows_max = partition_count, columns_max = partition_count;
constexpr std::size_t elements_max = 512;
/// Rows of the result end off a power of two, which would put them on the same cache lines.
constexpr std::size_t result_stride = elements_max + 48;
constexpr std::size_t widest_panel = 64;
constexpr std::uint16_t no_row = 0xFFFF;
constexpr std::uint32_t leading_bits = 0xFFFF'F000;

/// The part of an fp32 value that a mode would load if the parts were told apart.
float part_of(float value, Fp32Mode mode) {
  const float high = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & leading_bits);
  return mode == Fp32Mode::high ? high : value - high;
}

/// What mode 1 or 2 makes of a weight, one of the two passes lost or each in the other's place.
float mutated_weight(float value, Fp32Mode mode, Mutation mutation) {
  if (mutation == Mutation::passes_swapped) {
    return part_of(value, mode == Fp32Mode::low ? Fp32Mode::high : Fp32Mode::low);
  }
  const bool lost = (mode == Fp32Mode::low) == (mutation == Mutation::drop_low_pass);
  return lost ? 0 : part_of(value, mode);
}

std::uint32_t bits_of_one(Dtype dtype) {
  return dtype == Dtype::fp16 ? 0x3C00 : dtype == Dtype::bf16 ? 0x3F80 : 0x3F80'0000;
}

std::uint32_t raw_at(const std::uint8_t* bits, std::size_t index, std::uint32_t size) {
  std::uint32_t raw = 0;
  std::memcpy(&raw, bits + index * size, size);
  return raw;
}

}  // namespace

/// Values for products, the first element read in the last column. A pass that carries nothing is
/// not even read.
void Core::pack_weights(const Record& record) {
  const bool passes = record.fp32_mode == Fp32Mode::low || record.fp32_mode == Fp32Mode::high;
  const bool mutated =
      passes && (mutation_ == Mutation::drop_low_pass || mutation_ == Mutation::drop_high_pass ||
                 mutation_ == Mutation::passes_swapped);
  weights_.empty = record.fp32_mode == Fp32Mode::low && !mutated;
  if (weights_.empty) return;
  const std::size_t columns = record.columns, rows = record.rows;
  const Walk from = walk_of(record.source);
  float* values = line(0, columns_max + column_block);
  for (std::size_t k = 0; k < rows; ++k) {
    kernels_->load(values, at(record.source, k), from);
    for (std::size_t j = 0; mutated && j < columns; ++j) {
      values[j] = mutated_weight(values[j], record.fp32_mode, mutation_);
    }
    if (mutation_ != Mutation::weights_not_reversed) std::reverse(values, values + columns);
    std::fill(values + columns, values + columns + column_block, 0.0f);
    for (std::size_t m = 0; m < columns; m += column_block) {
      std::memcpy(&weights_.values[m * rows + k * column_block], values + m,
                  column_block * sizeof(float));
    }
  }
}

/// Bits for transpositions, in the same order.
void Core::pack_bits(const Record& record) {
  const std::size_t columns = record.columns;
  const Walk from = walk_of(record.source);
  const bool reversed = mutation_ != Mutation::weights_not_reversed;
  for (std::size_t k = 0; k < record.rows; ++k) {
    kernels_->load_bits(bits_.data(), at(record.source, k), from);
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t m = reversed ? columns - 1 - j : j;
      weights_.bits[k * columns_max + m] = raw_at(bits_.data(), j, from.size);
    }
  }
}

void Core::load_weights(const Record& record) {
  weights_.bits.resize(rows_max * columns_max);
  weights_.values.resize(rows_max * columns_max);
  bits_.resize(std::max(bits_.size(), columns_max * sizeof(std::uint32_t)));
  line(0, columns_max + column_block);
  record.transpose ? pack_bits(record) : pack_weights(record);
  weights_.loaded = true;
  weights_.transpose = record.transpose;
  weights_.dtype = record.source.dtype;
  weights_.rows = record.rows;
  weights_.columns = record.columns;
}

Core::Outcome Core::check_weights(const Record& record) const {
  if (!weights_.loaded) return RecordError{0, "no weights are loaded, expected LDWEIGHTS before"};
  if (record.source.dtype != weights_.dtype) {
    return RecordError{0x20, fmt::format("dtype is {}, expected {}, that of the loaded weights",
                                         dtype_name(static_cast<unsigned>(record.source.dtype)),
                                         dtype_name(static_cast<unsigned>(weights_.dtype)))};
  }
  if (record.transpose != weights_.transpose) {
    return RecordError{0x22, fmt::format("transpose is {:d}, expected {:d}, as the weights were "
                                         "loaded",
                                         record.transpose, weights_.transpose)};
  }
  if (record.rows != weights_.rows) {
    return RecordError{0x26, fmt::format("rows is {}, expected the {} of the loaded weights",
                                         record.rows, weights_.rows)};
  }
  if (record.columns != weights_.columns) {
    return RecordError{0x27, fmt::format("columns is {}, expected the {} of the loaded weights",
                                         record.columns, weights_.columns)};
  }
  return std::nullopt;
}

void Core::pack_moving(const Record& record) {
  const Walk from = walk_of(record.source);
  const std::size_t panel = kernels_->panel, rows = record.rows;
  const std::size_t padded = (from.elements + panel - 1) / panel * panel;
  float* values = line(0, elements_max + widest_panel);
  std::fill(values + from.elements, values + padded, 0.0f);
  for (std::size_t k = 0; k < rows; ++k) {
    kernels_->load(values, at(record.source, k), from);
    for (std::size_t n = 0; n < padded; n += panel) {
      std::memcpy(&moving_[n * rows + k * panel], values + n, panel * sizeof(float));
    }
  }
}

/// Stores the product, or adds it to what is there.
void Core::add_product(const Record& record) {
  const Walk to = walk_of(record.destination);
  const bool stores =
      mutation_ == Mutation::always_begin || (record.begin && mutation_ != Mutation::begin_ignored);
  float* sums = line(0, to.elements);
  for (std::size_t m = 0; m < record.columns; ++m) {
    const float* product = &result_[m * result_stride];
    std::uint8_t* out = at(record.destination, m);
    if (!stores) {
      kernels_->load(sums, out, to);
      kernels_->binary(Alu::add, sums, sums, product, to.elements);
      product = sums;
    }
    kernels_->store(out, product, to);
  }
}

Core::Outcome Core::matmul(const Record& record) {
  if (auto refused = check_weights(record)) return refused;
  if (record.transpose) return transpose(record);
  result_.resize(columns_max * result_stride);
  moving_.resize(rows_max * (elements_max + widest_panel));
  if (weights_.empty) {
    std::fill(result_.begin(), result_.end(), 0.0f);
  } else {
    pack_moving(record);
    kernels_->product({weights_.values.data(), moving_.data(), record.rows, record.columns,
                       record.source.elements, result_.data(), result_stride});
  }
  add_product(record);
  return std::nullopt;
}

/// For each moving element the row that has a 1 there. More than one, or another value: refused.
Core::Outcome Core::select_rows(const Record& record) {
  const Walk from = walk_of(record.source);
  const std::uint32_t one = bits_of_one(from.dtype);
  const std::uint32_t minus_zero = from.size == 2 ? 0x8000 : 0x8000'0000;
  selected_.assign(from.elements, no_row);
  for (std::size_t k = 0; k < record.rows; ++k) {
    kernels_->load_bits(bits_.data(), at(record.source, k), from);
    for (std::size_t n = 0; n < from.elements; ++n) {
      const std::uint32_t raw = raw_at(bits_.data(), n, from.size);
      if (raw == 0 || raw == minus_zero) continue;
      if (raw == one && selected_[n] == no_row) {
        selected_[n] = static_cast<std::uint16_t>(k);
        continue;
      }
      return RecordError{
          0x10, fmt::format("moving has bits 0x{:x} in row {} of element {}, expected zeros and "
                            "at most one 1 to transpose with",
                            raw, k, n)};
    }
  }
  return std::nullopt;
}

Core::Outcome Core::transpose(const Record& record) {
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  bits_.resize(std::max(bits_.size(), from.elements * sizeof(std::uint32_t)));
  if (auto refused = select_rows(record)) return refused;
  for (std::size_t m = 0; m < record.columns; ++m) {
    for (std::size_t n = 0; n < from.elements; ++n) {
      const std::uint32_t raw =
          selected_[n] == no_row ? 0 : weights_.bits[selected_[n] * columns_max + m];
      std::memcpy(bits_.data() + n * from.size, &raw, from.size);
    }
    if (to.dtype == from.dtype) {
      kernels_->store_bits(at(record.destination, m), bits_.data(), to);
      continue;
    }
    Walk packed = from;  // only under a mutation: values instead of bits
    packed.dims = 1;
    packed.step[0] = from.size;
    packed.count[0] = from.elements;
    packed.count[1] = packed.count[2] = packed.count[3] = 1;
    float* values = line(0, from.elements);
    kernels_->load(values, bits_.data(), packed);
    kernels_->store(at(record.destination, m), values, to);
  }
  return std::nullopt;
}

}  // namespace neffld::compute
