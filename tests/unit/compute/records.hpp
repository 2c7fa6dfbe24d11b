// SPDX-License-Identifier: MIT
// Legal compute records to start from (spec 10 section 5), and ways to change their fields.
#pragma once

#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "neffld/compute_record.hpp"

namespace neffld::compute::test {

struct Dim {
  int step = 1;
  unsigned count = 1;
};

/// A pattern operand: an ADDR4 and its dims, innermost first.
struct Tensor {
  std::uint32_t address = 0;
  std::vector<Dim> dims;
};

constexpr std::uint32_t psum(std::uint32_t offset, std::uint32_t partition = 0) {
  return 0x200'0000 + partition * 0x8000 + offset;
}
constexpr std::uint32_t sbuf(std::uint32_t offset, std::uint32_t partition = 0) {
  return partition * 0x4'0000 + offset;
}

class Draft {
 public:
  explicit Draft(std::uint8_t opcode) {
    bytes_[0] = opcode;
    bytes_[1] = 0x10;
  }
  /// From hex digits; blanks are skipped.
  static Draft from_hex(std::string_view text);

  Draft& u8(std::size_t at, unsigned value) {
    bytes_[at] = static_cast<std::uint8_t>(value);
    return *this;
  }
  Draft& u16(std::size_t at, unsigned value) {
    store_le(MutableBytes(bytes_), at, static_cast<std::uint16_t>(value));
    return *this;
  }
  Draft& u32(std::size_t at, std::uint32_t value) {
    store_le(MutableBytes(bytes_), at, value);
    return *this;
  }
  Draft& f32(std::size_t at, float value) {
    store_le(MutableBytes(bytes_), at, value);
    return *this;
  }
  /// T3 or T4; dims that are not given have step 1 and count 1.
  Draft& pattern(std::size_t at, unsigned dims, const Tensor& tensor);

  Bytes bytes() const { return bytes_; }
  const std::uint8_t* data() const { return bytes_.data(); }

 private:
  std::array<std::uint8_t, record_bytes> bytes_{};
};

constexpr unsigned code(Dtype dtype) {
  return static_cast<unsigned>(dtype);
}
constexpr unsigned code(Alu alu) {
  return static_cast<unsigned>(alu);
}

// One legal record of each kind. Counts must fit where both sides are given.
Draft load_weights(const Tensor& source, Dtype dtype, unsigned rows, unsigned columns);
Draft matmul(const Tensor& moving, const Tensor& destination, Dtype dtype, unsigned rows,
             unsigned columns, unsigned flags);
Draft activate(const Tensor& source, const Tensor& destination, Dtype in, Dtype out,
               unsigned partitions, unsigned function);  ///< scale 1, inline bias 0
Draft load_functions(unsigned set);
Draft tensor_tensor(const Tensor& source0, const Tensor& source1, const Tensor& destination,
                    Dtype in0, Dtype in1, Dtype out, unsigned partitions, Alu op);
Draft reduce(const Tensor& source, const Tensor& destination, Dtype in, Dtype out,
             unsigned partitions, Alu op, unsigned axis);
Draft tensor_scalar(const Tensor& source, const Tensor& destination, Dtype in, Dtype out,
                    unsigned partitions, Alu op0, float value);
/// COPY 0x46, CAST 0x47, RECIPROCAL 0x48.
Draft copy_like(std::uint8_t opcode, const Tensor& source, const Tensor& destination, Dtype in,
                Dtype out, unsigned partitions);
Draft memset_record(const Tensor& destination, Dtype dtype, unsigned partitions,
                    std::uint32_t value);

}  // namespace neffld::compute::test
