// SPDX-License-Identifier: MIT
// The pieces of decode(): each returns false after it has said what is wrong.
#pragma once

#include <optional>

#include "mutation.hpp"

namespace neffld::compute {

/// Sizes that differ between architectures (spec 10 section 2).
struct Limits {
  std::uint32_t sbuf_bytes = 0;  ///< of a partition
};
/// nullptr: no compute is known for `arch`.
const Limits* limits_of(Arch arch);

inline constexpr std::uint32_t sbuf_stride = 0x4'0000, psum_stride = 0x8000;  ///< of partitions
inline constexpr std::uint32_t psum_bytes = 0x4000;                           ///< of a partition
inline constexpr std::uint32_t psum_address = 0x200'0000;                     ///< bit 25 of ADDR4

/// An address operand that names a place.
struct Place {
  Space space = Space::sbuf;
  std::uint8_t partition = 0;
  std::uint32_t offset = 0;  ///< bytes in the partition
};

class Decoder {
 public:
  Decoder(Bytes record, Arch arch, Mutation mutation)
      : record_(record), arch_(arch), mutation_(mutation) {}
  tl::expected<Record, RecordError> run();

 private:
  bool fail(std::size_t field, std::string text);
  std::uint8_t u8(std::size_t at) const { return record_[at]; }
  std::uint32_t u32(std::size_t at) const { return load_le<std::uint32_t>(record_, at); }
  std::string_view field_name(std::size_t at) const;

  bool check_fields();
  bool check_gaps();
  bool decode_operand(const OperandPlace& place, OperandView& view);
  bool decode_operands();

  // operand_view.cpp
  bool decode_dtype(std::size_t at, std::uint8_t shift, Dtype& dtype);
  bool decode_place(std::size_t at, Dtype dtype, std::uint32_t channels, Place& place);
  bool check_partitions(std::size_t at, std::uint32_t first, std::uint32_t channels);
  bool decode_view(const OperandPlace& place, OperandView& view);
  bool decode_scalar(std::size_t at, bool pointer, Dtype dtype, ScalarOperand& scalar);
  std::uint32_t partition_bytes(Space space) const {
    return space == Space::psum ? psum_bytes : limits_->sbuf_bytes;
  }

  bool same_elements(std::size_t at, const OperandView& view, std::uint64_t expected,
                     std::string_view of);
  bool decode_operation();
  bool decode_array();
  bool decode_load_weights();
  bool decode_matmul();
  bool decode_activate();
  bool decode_tensor_tensor();
  bool decode_reduce();
  bool decode_tensor_scalar();
  bool decode_copy();
  bool decode_memset();

  // alu_rules.cpp
  bool check_alu(std::size_t at, bool (*allowed)(Alu, Arch), Alu& alu);
  bool check_integers(std::size_t at, Alu alu, std::initializer_list<Dtype> dtypes);

  Bytes record_;
  Arch arch_;
  Mutation mutation_;
  const Description* description_ = nullptr;
  const Limits* limits_ = nullptr;
  Record out_;
  std::optional<RecordError> error_;
};

/// Operations of one argument: a scalar beside it is not read.
bool is_unary(Alu alu);
bool tensor_tensor_allows(Alu alu, Arch arch);
bool reduce_allows(Alu alu, Arch arch);
bool tensor_scalar_allows(Alu alu, Arch arch);

}  // namespace neffld::compute
