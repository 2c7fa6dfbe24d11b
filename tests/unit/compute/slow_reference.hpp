// SPDX-License-Identifier: MIT
// What compute records mean, written a second time: element by element, in double and integers,
// straight from the bytes of a record (spec 10 sections 3 and 5). Shares nothing with devsim.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "neffld/bytes.hpp"

namespace neffld::compute::test {

/// The first `window` bytes of every partition of a space.
inline constexpr std::size_t window = 8192, partitions = 128;

/// Memory of a core without the bytes behind the windows.
struct Windows {
  std::vector<std::uint8_t> sbuf = std::vector<std::uint8_t>(window * partitions);
  std::vector<std::uint8_t> psum = std::vector<std::uint8_t>(window * partitions);
};

/// The exact value of an element, and the nearest element of a value.
double decode_element(unsigned dtype, std::uint32_t bits);
std::uint32_t encode_element(unsigned dtype, float value);
unsigned element_size(unsigned dtype);
bool is_nan_element(unsigned dtype, std::uint32_t bits);

class SlowReference {
 public:
  explicit SlowReference(Windows& memory) : memory_(memory) {}

  void run(Bytes record);

  /// Calls back for every element the record writes: where, its dtype.
  using Visit = std::function<void(bool psum, std::size_t at, unsigned dtype)>;
  static void visit_destination(Bytes record, const Visit& visit);

 private:
  struct Element {
    bool psum = false;
    std::size_t at = 0;  ///< in the window
  };
  /// Elements of one partition of a pattern, in sequence order.
  static std::vector<Element> elements(Bytes record, std::size_t pattern, unsigned dims,
                                       unsigned dtype, unsigned partition);
  static Element scalar_element(Bytes record, std::size_t at, unsigned partition);
  std::uint32_t bits(const Element& element, unsigned dtype) const;
  float value(const Element& element, unsigned dtype) const;
  void put_bits(const Element& element, unsigned dtype, std::uint32_t bits);
  void put(const Element& element, unsigned dtype, float value);

  void load_weights(Bytes record);
  void matmul(Bytes record);
  void tensor_tensor(Bytes record);
  void reduce(Bytes record);
  void tensor_scalar(Bytes record);
  void activate(Bytes record);
  void copy_like(Bytes record);
  void fill(Bytes record);

  Windows& memory_;
  std::array<std::array<std::uint32_t, 128>, 128> weights_{};  ///< [k][m], bits
  bool empty_pass_ = false;
};

}  // namespace neffld::compute::test
