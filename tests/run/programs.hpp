// SPDX-License-Identifier: MIT
// What the programs of the real files mean: inputs for them, and the results of plain loops in
// double (spec 10 section 9).
#pragma once

#include <span>

#include "values.hpp"

namespace neffld::reference {

enum class Kind : std::uint8_t { add, transpose, matmul, convolution, convolution_pool, attention };

struct TensorShape {
  const char* name;
  std::vector<std::uint64_t> shape;
};

/// One real file: its number, and its tensors as its neff.json lists them. The generated ones
/// (generated.hpp) have names for numbers.
struct Program {
  const char* number;
  Kind kind;
  Type type;
  std::vector<TensorShape> inputs;
  TensorShape output;
  double tolerance;  ///< of the largest reference value (spec 10 section 13); 0 = bit-exact
};

std::span<const Program> programs();

/// Inputs of a run: random normal numbers, weights times 0.05; the transpose gets random bits, NaNs
/// among them; every third seed triples the inputs of attention, so that its softmax overflows
/// unless the largest logit is subtracted.
std::vector<Tensor> make_inputs(const Program& program, std::uint64_t seed);

struct Comparison {
  double max_error = 0, max_reference = 0;
  std::uint64_t compared = 0, different = 0;  ///< elements; of exact programs, those unequal
  bool good = false;
};

/// Compares an output with the reference. `channels` != 0: of a convolution only so many output
/// channels, all positions of all batches, spread over the range; the seed picks which.
Comparison compare(const Program& program, const std::vector<Tensor>& inputs, const Tensor& output,
                   std::uint64_t channels, std::uint64_t seed);

}  // namespace neffld::reference
