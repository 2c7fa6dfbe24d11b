// SPDX-License-Identifier: MIT
// Element types of the reference: exact conversions to double, and from double rounding to nearest
// even. Written from the formats' definitions; nothing here is shared with what it checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace neffld::reference {

enum class Type : std::uint8_t { float32, float16, bfloat16 };

/// "<f4", "<f2", "<V2".
const char* npy_descr(Type type);
std::size_t bytes_of(Type type);

/// A tensor: name, shape (row major, last index fastest) and raw elements.
struct Tensor {
  std::string name;
  Type type = Type::float32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> raw;

  std::uint64_t elements() const;
  std::uint32_t bits(std::uint64_t index) const;
  void set_bits(std::uint64_t index, std::uint32_t bits);
};

double to_double(std::uint32_t bits, Type type);
/// Overflow gives infinity; numbers below the normal ones are kept as denormals.
std::uint32_t from_double(double value, Type type);

std::vector<double> to_doubles(const Tensor& tensor);

/// Deterministic on every machine (splitmix64, Box-Muller).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint64_t bits();
  double uniform();  ///< [0, 1)
  double normal();

 private:
  std::uint64_t state_;
};

/// Little-endian C-order .npy files, version 1. A problem ends the program with a sentence.
void write_npy(const std::string& path, const Tensor& tensor);
/// Fills `tensor.raw`; the file's type and shape must be the tensor's.
void read_npy(const std::string& path, Tensor& tensor);

}  // namespace neffld::reference
