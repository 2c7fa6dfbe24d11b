// SPDX-License-Identifier: MIT
#include "programs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace neffld::reference {
namespace {

constexpr double weight_scale = 0.05;

std::vector<TensorShape> convolution_inputs(std::uint64_t batch, std::uint64_t height,
                                            std::uint64_t width) {
  return {{"X", {batch, 256, height, width}}, {"W", {256, 256, 3, 3}}, {"bias", {256}}};
}

std::vector<TensorShape> attention_inputs(std::uint64_t length) {
  return {{"q_ref", {128, length}}, {"k_ref", {128, length}}, {"v_ref", {128, length}}};
}

/// Reference values and where they are in the output.
struct Reference {
  std::vector<double> values;
  std::vector<std::uint64_t> places;  ///< empty: the whole output in order
};

/// out = leftᵀ right, both [depth, ...]: the contraction of matmul and of attention's two products.
std::vector<double> contract(const std::vector<double>& left, const std::vector<double>& right,
                             std::uint64_t depth, std::uint64_t rows, std::uint64_t columns) {
  std::vector<double> out(rows * columns, 0.0);
  for (std::uint64_t k = 0; k < depth; ++k) {
    const double* line = right.data() + k * columns;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const double factor = left[k * rows + row];
      double* to = out.data() + row * columns;
      for (std::uint64_t column = 0; column < columns; ++column)
        to[column] += factor * line[column];
    }
  }
  return out;
}

std::vector<double> transposed(const std::vector<double>& in, std::uint64_t rows,
                               std::uint64_t columns) {
  std::vector<double> out(in.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      out[column * rows + row] = in[row * columns + column];
    }
  }
  return out;
}

std::vector<double> add(const std::vector<Tensor>& inputs) {
  std::vector<double> sum = to_doubles(inputs[0]);
  const std::vector<double> other = to_doubles(inputs[1]);
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  return sum;
}

std::vector<double> matmul(const std::vector<Tensor>& inputs) {
  const std::uint64_t rows = inputs[0].shape[0], depth = inputs[0].shape[1];
  return contract(transposed(to_doubles(inputs[0]), rows, depth), to_doubles(inputs[1]), depth,
                  rows, inputs[1].shape[1]);
}

/// q, k, v [d, s] -> softmax(qᵀ k) vᵀ [s, d]; the logits are not scaled.
std::vector<double> attention(const std::vector<Tensor>& inputs) {
  const std::uint64_t depth = inputs[0].shape[0], length = inputs[0].shape[1];
  std::vector<double> scores =
      contract(to_doubles(inputs[0]), to_doubles(inputs[1]), depth, length, length);
  for (std::uint64_t row = 0; row < length; ++row) {
    const auto line = std::span(scores).subspan(row * length, length);
    const double largest = *std::max_element(line.begin(), line.end());
    for (double& value : line) value = std::exp(value - largest);
    const double sum = std::accumulate(line.begin(), line.end(), 0.0);
    for (double& value : line) value /= sum;
  }
  return contract(transposed(scores, length, length),
                  transposed(to_doubles(inputs[2]), depth, length), length, length, depth);
}

/// The 3x3 windows inside the image, plus bias: one output channel of one image.
void convolve(const double* image, const double* weights, double bias, std::uint64_t channels,
              std::uint64_t height, std::uint64_t width, std::vector<double>& out) {
  const std::uint64_t rows = height - 2, columns = width - 2;
  out.assign(rows * columns, bias);
  for (std::uint64_t c = 0; c < channels; ++c) {
    const double* plane = image + c * height * width;
    const double* w = weights + c * 9;
    for (std::uint64_t y = 0; y < rows; ++y) {
      double* to = out.data() + y * columns;
      const double *a = plane + y * width, *b = a + width, *d = b + width;
      for (std::uint64_t x = 0; x < columns; ++x) {
        to[x] += w[0] * a[x] + w[1] * a[x + 1] + w[2] * a[x + 2] + w[3] * b[x] + w[4] * b[x + 1] +
                 w[5] * b[x + 2] + w[6] * d[x] + w[7] * d[x + 1] + w[8] * d[x + 2];
      }
    }
  }
}

std::vector<double> max_pool(const std::vector<double>& in, std::uint64_t rows,
                             std::uint64_t columns) {
  std::vector<double> out;
  out.reserve(rows / 2 * (columns / 2));
  for (std::uint64_t y = 0; y + 1 < rows; y += 2) {
    const double *a = in.data() + y * columns, *b = a + columns;
    for (std::uint64_t x = 0; x + 1 < columns; x += 2) {
      out.push_back(std::max(std::max(a[x], a[x + 1]), std::max(b[x], b[x + 1])));
    }
  }
  return out;
}

/// `wanted` output channels of `all`: the first, the last and random ones.
std::vector<std::uint64_t> pick_channels(std::uint64_t all, std::uint64_t wanted,
                                         std::uint64_t seed) {
  std::vector<std::uint64_t> picked(all);
  std::iota(picked.begin(), picked.end(), 0);
  if (wanted == 0 || wanted >= all) return picked;
  Random random(seed);
  for (std::uint64_t i = 1; i < all - 1; ++i) {
    std::swap(picked[i], picked[i + random.bits() % (all - 1 - i)]);
  }
  std::swap(picked[1], picked[all - 1]);
  picked.resize(wanted);
  return picked;
}

Reference convolution(const Program& program, const std::vector<Tensor>& inputs,
                      std::uint64_t channels, std::uint64_t seed) {
  const std::vector<std::uint64_t>& shape = inputs[0].shape;
  const std::uint64_t depth = shape[1], height = shape[2], width = shape[3];
  const std::vector<double> weights = to_doubles(inputs[1]), bias = to_doubles(inputs[2]);
  const bool pool = program.kind == Kind::convolution_pool;
  const std::vector<std::uint64_t>& out_shape = program.output.shape;
  const std::uint64_t out_channels = out_shape[1], positions = out_shape[2] * out_shape[3];
  Reference reference;
  std::vector<double> image(depth * height * width), plane;
  for (std::uint64_t n = 0; n < shape[0]; ++n) {
    for (std::uint64_t i = 0; i < image.size(); ++i) {
      image[i] = to_double(inputs[0].bits(n * image.size() + i), inputs[0].type);
    }
    for (const std::uint64_t channel : pick_channels(out_channels, channels, seed)) {
      convolve(image.data(), weights.data() + channel * depth * 9, bias[channel], depth, height,
               width, plane);
      if (pool) plane = max_pool(plane, height - 2, width - 2);
      reference.values.insert(reference.values.end(), plane.begin(), plane.end());
      for (std::uint64_t p = 0; p < positions; ++p) {
        reference.places.push_back((n * out_channels + channel) * positions + p);
      }
    }
  }
  return reference;
}

Comparison compare_bits(const std::vector<std::uint32_t>& wanted, const Tensor& output) {
  Comparison result;
  result.compared = wanted.size();
  for (std::uint64_t i = 0; i < wanted.size(); ++i) {
    const double value = to_double(wanted[i], output.type);
    if (std::isfinite(value)) {
      result.max_reference = std::max(result.max_reference, std::fabs(value));
    }
    if (output.bits(i) == wanted[i]) continue;
    ++result.different;
    const double error = std::fabs(to_double(output.bits(i), output.type) - value);
    if (!(error <= result.max_error)) result.max_error = error;
  }
  result.good = result.different == 0;
  return result;
}

Comparison compare_values(const Reference& reference, const Tensor& output, double tolerance) {
  Comparison result;
  result.compared = reference.values.size();
  bool numbers = true;
  for (std::uint64_t i = 0; i < reference.values.size(); ++i) {
    const std::uint64_t place = reference.places.empty() ? i : reference.places[i];
    const double error =
        std::fabs(to_double(output.bits(place), output.type) - reference.values[i]);
    if (std::isnan(error)) numbers = false;
    result.max_error = std::max(result.max_error, error);
    result.max_reference = std::max(result.max_reference, std::fabs(reference.values[i]));
  }
  if (!numbers) result.max_error = std::nan("");
  result.good = numbers && result.max_error <= tolerance * result.max_reference;
  return result;
}

}  // namespace

std::span<const Program> programs() {
  static const std::vector<Program> all = {
      {"01",
       Kind::convolution,
       Type::float16,
       convolution_inputs(1, 224, 224),
       {"X_out", {1, 256, 222, 222}},
       2e-3},
      {"02",
       Kind::convolution,
       Type::float32,
       convolution_inputs(1, 224, 224),
       {"X_out", {1, 256, 222, 222}},
       1e-5},
      {"03",
       Kind::convolution,
       Type::float32,
       convolution_inputs(10, 224, 224),
       {"X_out", {10, 256, 222, 222}},
       1e-5},
      {"04",
       Kind::convolution_pool,
       Type::float32,
       convolution_inputs(10, 224, 224),
       {"X_out", {10, 256, 111, 111}},
       1e-5},
      {"05",
       Kind::add,
       Type::float32,
       {{"a_vec", {256000}}, {"b_vec", {256000}}},
       {"out", {256000}},
       0},
      {"06",
       Kind::transpose,
       Type::float32,
       {{"a_tensor", {1024, 1024}}},
       {"out", {1024, 1024}},
       0},
      {"07",
       Kind::convolution,
       Type::float16,
       convolution_inputs(1, 32, 16),
       {"X_out", {1, 256, 30, 14}},
       1e-3},
      {"08",
       Kind::convolution,
       Type::float32,
       convolution_inputs(1, 224, 224),
       {"X_out", {1, 256, 222, 222}},
       1e-5},
      {"09",
       Kind::convolution,
       Type::float16,
       convolution_inputs(1, 224, 224),
       {"X_out", {1, 256, 222, 222}},
       1e-3},
      {"10",
       Kind::attention,
       Type::bfloat16,
       attention_inputs(1024),
       {"kernel_out", {1024, 128}},
       4e-3},
      {"11",
       Kind::attention,
       Type::bfloat16,
       attention_inputs(512),
       {"kernel_out", {512, 128}},
       4e-3},
      {"12",
       Kind::matmul,
       Type::float16,
       {{"x", {128, 256}}, {"y", {256, 128}}},
       {"output0", {128, 128}},
       1e-3},
      {"pool-f16-v2",
       Kind::convolution_pool,
       Type::float16,
       {{"X", {1, 128, 6, 10}}, {"W", {128, 128, 3, 3}}, {"bias", {128}}},
       {"X_out", {1, 128, 2, 4}},
       2e-3},
      // Its logits are fp32, and large ones lose bits before exp (spec 10 section 9).
      {"attention-f32-v3",
       Kind::attention,
       Type::float32,
       attention_inputs(128),
       {"kernel_out", {128, 128}},
       1e-4},
  };
  return all;
}

std::vector<Tensor> make_inputs(const Program& program, std::uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    Tensor tensor{program.inputs[i].name, program.type, program.inputs[i].shape, {}};
    tensor.raw.resize(tensor.elements() * bytes_of(tensor.type));
    const bool weights =
        i == 1 && (program.kind == Kind::convolution || program.kind == Kind::convolution_pool);
    const bool large = program.kind == Kind::attention && seed % 3 == 0;
    const double scale = weights ? weight_scale : large ? 3 : 1;
    for (std::uint64_t e = 0; e < tensor.elements(); ++e) {
      tensor.set_bits(e, program.kind == Kind::transpose
                             ? static_cast<std::uint32_t>(random.bits())
                             : from_double(scale * random.normal(), program.type));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Comparison compare(const Program& program, const std::vector<Tensor>& inputs, const Tensor& output,
                   std::uint64_t channels, std::uint64_t seed) {
  std::vector<std::uint32_t> bits;
  switch (program.kind) {
    case Kind::transpose: {
      const std::uint64_t rows = inputs[0].shape[0], columns = inputs[0].shape[1];
      bits.resize(rows * columns);
      for (std::uint64_t y = 0; y < rows; ++y) {
        for (std::uint64_t x = 0; x < columns; ++x) {
          bits[x * rows + y] = inputs[0].bits(y * columns + x);
        }
      }
      return compare_bits(bits, output);
    }
    case Kind::add:
      for (const double sum : add(inputs)) bits.push_back(from_double(sum, program.type));
      return compare_bits(bits, output);
    case Kind::matmul:
      return compare_values({matmul(inputs), {}}, output, program.tolerance);
    case Kind::attention:
      return compare_values({attention(inputs), {}}, output, program.tolerance);
    case Kind::convolution:
    case Kind::convolution_pool:
      return compare_values(convolution(program, inputs, channels, seed), output,
                            program.tolerance);
  }
  return {};
}

}  // namespace neffld::reference
