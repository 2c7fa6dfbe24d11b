// SPDX-License-Identifier: MIT
#include "values.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace neffld::reference {
namespace {

struct Format {
  int exponent_bits, mantissa_bits;
};

Format format_of(Type type) {
  switch (type) {
    case Type::float32:
      return {8, 23};
    case Type::float16:
      return {5, 10};
    case Type::bfloat16:
      return {8, 7};
  }
  std::abort();
}

[[noreturn]] void die(const std::string& path, const char* what) {
  std::fprintf(stderr, "reference: %s: %s\n", path.c_str(), what);
  std::exit(2);
}

std::string npy_text(const Tensor& tensor) {
  std::string text =
      std::string("{'descr': '") + npy_descr(tensor.type) + "', 'fortran_order': False, 'shape': (";
  for (const std::uint64_t dim : tensor.shape) text += std::to_string(dim) + ",";
  return text + "), }";
}

}  // namespace

const char* npy_descr(Type type) {
  return type == Type::float32 ? "<f4" : type == Type::float16 ? "<f2" : "<V2";
}

std::size_t bytes_of(Type type) {
  return type == Type::float32 ? 4 : 2;
}

std::uint64_t Tensor::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : shape) count *= dim;
  return count;
}

std::uint32_t Tensor::bits(std::uint64_t index) const {
  const std::uint8_t* at = raw.data() + index * bytes_of(type);
  std::uint32_t value = at[0] | std::uint32_t{at[1]} << 8;
  if (type == Type::float32) value |= std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
  return value;
}

void Tensor::set_bits(std::uint64_t index, std::uint32_t bits) {
  std::uint8_t* at = raw.data() + index * bytes_of(type);
  for (std::size_t i = 0; i < bytes_of(type); ++i) at[i] = static_cast<std::uint8_t>(bits >> 8 * i);
}

double to_double(std::uint32_t bits, Type type) {
  const auto [exponent_bits, mantissa_bits] = format_of(type);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa = static_cast<double>(bits & ((1u << mantissa_bits) - 1));
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign *
         std::ldexp(mantissa + std::ldexp(1, mantissa_bits), exponent - bias - mantissa_bits);
}

std::uint32_t from_double(double value, Type type) {
  const auto [exponent_bits, mantissa_bits] = format_of(type);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t sign = std::signbit(value) ? 1u << (exponent_bits + mantissa_bits) : 0;
  const std::uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) return sign | infinity | 1u << (mantissa_bits - 1);
  if (std::isinf(value)) return sign | infinity;
  if (value == 0) return sign;
  int exponent = 0;
  std::frexp(value, &exponent);  // value = f * 2^exponent, f in [0.5, 1)
  const int lowest = 1 - bias;
  const int unit = (exponent - 1 < lowest ? lowest : exponent - 1) - mantissa_bits;
  // In units of the last place the rounded value is the bit pattern, once the exponent is added:
  // a carry out of the mantissa is a carry into the exponent, up to infinity.
  const auto rounded =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), -unit)));
  const std::uint64_t pattern =
      rounded + (static_cast<std::uint64_t>(unit + mantissa_bits - lowest) << mantissa_bits);
  return sign | static_cast<std::uint32_t>(pattern > infinity ? infinity : pattern);
}

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> values(tensor.elements());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    values[i] = to_double(tensor.bits(i), tensor.type);
  }
  return values;
}

std::uint64_t Random::bits() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

double Random::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * M_PI * uniform());
}

void write_npy(const std::string& path, const Tensor& tensor) {
  constexpr std::size_t start = 10, data = 128;
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(data - start);
  head += '\0';
  head += npy_text(tensor);
  if (head.size() >= data) die(path, "the shape has too many dimensions");
  head.resize(data - 1, ' ');
  head += '\n';
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) die(path, "cannot be created");
  const bool written =
      std::fwrite(head.data(), 1, data, file) == data &&
      std::fwrite(tensor.raw.data(), 1, tensor.raw.size(), file) == tensor.raw.size();
  if (std::fclose(file) != 0 || !written) die(path, "cannot be written");
}

void read_npy(const std::string& path, Tensor& tensor) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) die(path, "cannot be opened");
  std::uint8_t start[10];
  if (std::fread(start, 1, sizeof start, file) != sizeof start ||
      std::memcmp(start, "\x93NUMPY\x01", 7) != 0) {
    die(path, "is no .npy file of version 1");
  }
  std::string text(start[8] + std::size_t{start[9]} * 256, '\0');
  if (std::fread(text.data(), 1, text.size(), file) != text.size()) die(path, "is cut off");
  // "(1, 2)" and "(1,2,)" are the same shape.
  std::string plain, wanted;
  for (const char c : text) {
    if (c == ')' && !plain.empty() && plain.back() == ',') plain.pop_back();
    if (c != ' ' && c != '\n') plain += c;
  }
  for (const char c : npy_text(tensor)) {
    if (c == ')' && !wanted.empty() && wanted.back() == ',') wanted.pop_back();
    if (c != ' ') wanted += c;
  }
  if (plain != wanted) die(path, ("has header " + plain + ", expected " + wanted).c_str());
  tensor.raw.resize(tensor.elements() * bytes_of(tensor.type));
  const std::size_t read = std::fread(tensor.raw.data(), 1, tensor.raw.size(), file);
  if (read != tensor.raw.size() || std::fgetc(file) != EOF) die(path, "has another size");
  std::fclose(file);
}

}  // namespace neffld::reference
