// SPDX-License-Identifier: MIT
// Loops over the elements of one partition, and the matrix product: built once for any processor
// and once for x86-64 with AVX2, FMA and F16C, from the same source. All but the product give the
// same bits on both; the product adds with one rounding instead of two where there is FMA (spec 10
// section 12 allows it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "neffld/compute_record.hpp"

namespace neffld::compute {

/// An operand as the loops walk it: dims innermost first, steps in bytes.
struct Walk {
  Dtype dtype = Dtype::fp32;
  std::uint32_t size = 4;  ///< bytes of an element
  unsigned dims = 1;
  std::ptrdiff_t step[4] = {};
  std::size_t count[4] = {1, 1, 1, 1};  ///< 1 behind `dims`
  std::size_t elements = 1;
};

/// fp32 weights and moving data, packed for the loops of one set of kernels.
struct Product {
  const float* weights = nullptr;  ///< [m / 4][k][4], zero behind the last column
  const float* moving = nullptr;   ///< [n / panel][k][panel], zero behind the last element
  std::size_t rows = 0, columns = 0, elements = 0;
  float* result = nullptr;  ///< [m][stride], room for whole blocks
  std::size_t stride = 0;
};
inline constexpr std::size_t column_block = 4;

struct Kernels {
  const char* name;
  std::size_t panel;  ///< moving elements side by side

  /// Elements in sequence order, as fp32. `from` is the first element.
  void (*load)(float* to, const std::uint8_t* from, const Walk& walk);
  /// Rounds to nearest even; integers saturate, and NaN becomes 0 there.
  void (*store)(std::uint8_t* to, const float* from, const Walk& walk);
  void (*load_bits)(std::uint8_t* to, const std::uint8_t* from, const Walk& walk);
  void (*store_bits)(std::uint8_t* to, const std::uint8_t* from, const Walk& walk);

  /// out[i] = a[i] op b[i]. In place is fine.
  void (*binary)(Alu op, float* out, const float* a, const float* b, std::size_t count);
  /// out[i] = a[i] op b, or b op a[i]; of unary operations op a[i].
  void (*with_scalar)(Alu op, float* out, const float* a, float b, bool reversed,
                      std::size_t count);
  void (*scale_bias)(float* out, const float* a, float scale, float bias, std::size_t count);
  /// out[i] = in[i * reduced] op in[i * reduced + 1] op ..., left to right; times -1.
  void (*reduce)(Alu op, float* out, const float* in, std::size_t count, std::size_t reduced,
                 bool negate);
  void (*product)(const Product& product);
};

extern const Kernels portable_kernels;
#ifdef __x86_64__
extern const Kernels avx2_kernels;
#endif

/// Those this processor can run, the fastest first. Never empty.
std::span<const Kernels* const> available_kernels();

}  // namespace neffld::compute
