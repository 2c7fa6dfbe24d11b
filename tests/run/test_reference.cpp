// SPDX-License-Identifier: MIT
// The reference itself: conversions over all patterns, small results worked out by hand, and that
// a wrong element is told.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "programs.hpp"

using namespace neffld::reference;

namespace {

Tensor tensor(const char* name, std::vector<std::uint64_t> shape, const std::vector<double>& values,
              Type type = Type::float32) {
  Tensor made{name, type, std::move(shape), {}};
  made.raw.resize(made.elements() * bytes_of(type));
  REQUIRE(values.size() == made.elements());
  for (std::uint64_t i = 0; i < values.size(); ++i) made.set_bits(i, from_double(values[i], type));
  return made;
}

Comparison judge(Kind kind, const std::vector<Tensor>& inputs, const Tensor& output,
                 double tolerance = 1e-6, std::uint64_t channels = 0) {
  Program program{"00", kind, output.type, {}, {"out", output.shape}, tolerance};
  for (const Tensor& input : inputs) program.inputs.push_back({input.name.c_str(), input.shape});
  return compare(program, inputs, output, channels, 1);
}

}  // namespace

TEST_CASE("every 16-bit pattern survives the way to double and back") {
  for (const Type type : {Type::float16, Type::bfloat16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = to_double(bits, type);
      if (std::isnan(value)) continue;
      REQUIRE(from_double(value, type) == bits);
    }
  }
}

TEST_CASE("conversion from double rounds to nearest even") {
  CHECK(from_double(1 + 0x1p-11, Type::float16) == 0x3C00);
  CHECK(from_double(1 + 3 * 0x1p-11, Type::float16) == 0x3C02);
  CHECK(from_double(65519.9, Type::float16) == 0x7BFF);
  CHECK(from_double(65520, Type::float16) == 0x7C00);
  CHECK(from_double(0x1p-25, Type::float16) == 0);
  CHECK(from_double(0x1.8p-25, Type::float16) == 1);
  CHECK(from_double(0x1.FFFp-15, Type::float16) == 0x0400);
  CHECK(from_double(-0.0, Type::float32) == 0x80000000);
  CHECK(from_double(1 + 0x1p-8, Type::bfloat16) == 0x3F80);
  CHECK(from_double(1 + 0x1.8p-8, Type::bfloat16) == 0x3F81);
  for (const double value : {1.0, -3.25, 0.1, 1e-40, 3e38, 1e39}) {
    float rounded = static_cast<float>(value);
    std::uint32_t bits = 0;
    static_assert(sizeof bits == sizeof rounded);
    std::memcpy(&bits, &rounded, sizeof bits);
    CHECK(from_double(value, Type::float32) == bits);
  }
}

TEST_CASE("a sum must be right to the last bit") {
  const std::vector<Tensor> inputs = {tensor("a", {3}, {1, 2, 1e-30}),
                                      tensor("b", {3}, {0.5, -2, 1})};
  Tensor output = tensor("out", {3}, {1.5, 0, 1});
  CHECK(judge(Kind::add, inputs, output).good);
  output.set_bits(2, output.bits(2) + 1);
  const Comparison wrong = judge(Kind::add, inputs, output);
  CHECK_FALSE(wrong.good);
  CHECK(wrong.different == 1);
  output.set_bits(2, 0x7FC00000);
  CHECK(std::isnan(judge(Kind::add, inputs, output).max_error));
}

TEST_CASE("a transposition keeps every bit, NaN payloads included") {
  Tensor input{"a", Type::float32, {2, 3}, {}}, output{"out", Type::float32, {3, 2}, {}};
  input.raw.resize(24);
  output.raw.resize(24);
  for (std::uint32_t y = 0; y < 2; ++y) {
    for (std::uint32_t x = 0; x < 3; ++x) {
      input.set_bits(y * 3 + x, 0x7F800001 + y * 3 + x);
      output.set_bits(x * 2 + y, 0x7F800001 + y * 3 + x);
    }
  }
  CHECK(judge(Kind::transpose, {input}, output).good);
  output.set_bits(0, 0x7FC00001);
  CHECK_FALSE(judge(Kind::transpose, {input}, output).good);
}

TEST_CASE("a product is rows times columns") {
  const std::vector<Tensor> inputs = {tensor("x", {2, 3}, {1, 2, 3, 4, 5, 6}),
                                      tensor("y", {3, 2}, {1, -1, 0, 2, 10, 1})};
  CHECK(judge(Kind::matmul, inputs, tensor("out", {2, 2}, {31, 6, 64, 12})).good);
  CHECK_FALSE(judge(Kind::matmul, inputs, tensor("out", {2, 2}, {31, 64, 6, 12})).good);
  CHECK_FALSE(judge(Kind::matmul, inputs, tensor("out", {2, 2}, {31, 6, 64, NAN})).good);
}

TEST_CASE("a convolution takes the windows inside the image and adds the bias") {
  // Two channels of 4 x 4; the weights pick one element of the window each, times ten.
  std::vector<double> image(32), weights(2 * 2 * 9, 0);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<double>(i);
  weights[0] = 10;           // output channel 0: channel 0, row 0, column 0
  weights[18 + 9 + 7] = 10;  // output channel 1: channel 1, row 2, column 1
  const std::vector<Tensor> inputs = {tensor("X", {1, 2, 4, 4}, image),
                                      tensor("W", {2, 2, 3, 3}, weights),
                                      tensor("bias", {2}, {0.5, -1})};
  Tensor output = tensor("out", {1, 2, 2, 2}, {0.5, 10.5, 40.5, 50.5, 249, 259, 289, 299});
  CHECK(judge(Kind::convolution, inputs, output).good);
  CHECK(judge(Kind::convolution, inputs, output, 1e-6, 1).compared == 4);
  CHECK(judge(Kind::convolution_pool, inputs, tensor("out", {1, 2, 1, 1}, {50.5, 299})).good);
  output.set_bits(5, from_double(259.1, Type::float32));
  CHECK_FALSE(judge(Kind::convolution, inputs, output).good);
}

TEST_CASE("attention weighs values by the softmax of the logits") {
  // d = 1, s = 2: logits q_i * k_j.
  const double big = 200;  // overflows exp unless the largest logit is taken off
  const std::vector<Tensor> inputs = {tensor("q", {1, 2}, {1, big}), tensor("k", {1, 2}, {1, 2}),
                                      tensor("v", {1, 2}, {3, 5})};
  const double e = std::exp(1.0);
  CHECK(judge(Kind::attention, inputs, tensor("out", {2, 1}, {(3 + 5 * e) / (1 + e), 5})).good);
  CHECK_FALSE(judge(Kind::attention, inputs, tensor("out", {2, 1}, {4, 5})).good);
}

TEST_CASE("inputs of a seed are the same every time and others for other seeds") {
  for (const Program& program : programs()) {
    if (program.inputs[0].shape.size() == 4 && program.inputs[0].shape[2] > 32) continue;
    const auto first = make_inputs(program, 1), again = make_inputs(program, 1);
    const auto other = make_inputs(program, 2);
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK(first[i].raw == again[i].raw);
      CHECK(first[i].raw != other[i].raw);
    }
  }
}
