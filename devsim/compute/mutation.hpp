// SPDX-License-Identifier: MIT
// Wrong readings of spec 10, one at a time, for the proof that running real models detects each of
// them (spec 10 section 10). Only tests set anything but `none`.
#pragma once

#include "neffld/compute_record.hpp"

namespace neffld::compute {

enum class Mutation : std::uint8_t {
  none,
  weights_not_reversed,
  begin_ignored,  ///< every matmul adds
  always_begin,   ///< every matmul overwrites
  drop_low_pass,  ///< fp32 weights of mode 1 are lost
  drop_high_pass,
  passes_swapped,  ///< mode 1 carries the leading part, mode 2 the rest
  transpose_writes_fp32,
  steps_in_bytes,
  dims_reversed,
  negate_ignored,
  bias_ignored,
  axis_one_more,  ///< axis code 2 reduces two dims and 3 three
  axis_one_less,  ///< axis code 3 reduces one dim
  exact_exp,      ///< instead of the table
  nibbles_of_tensor_tensor_swapped,
  nibbles_of_activate_swapped,
  scale_ignored,
};

/// decode() under a mutation: the ones that change how a record reads are applied here.
tl::expected<Record, RecordError> decode_mutated(Bytes record, Arch arch, Mutation mutation);

}  // namespace neffld::compute
