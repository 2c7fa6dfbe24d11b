// SPDX-License-Identifier: MIT
// Small models that compute, made by the writer of synthetic NEFFs: what no real file at hand
// exercises in seconds. Their meanings are rows of programs().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace neffld::test {

bool is_generated(std::string_view name);

/// The file.
///   pool-f16-v2       3x3 convolution in fp16, partial sums rounded to fp16 and added from PSUM,
///                     bias by pointer, 2x2 max-pool: all records of the fp16 pool files
///   attention-f32-v3  softmax(qᵀ k) v in fp32, exp from tables
std::vector<std::uint8_t> generated(std::string_view name);

}  // namespace neffld::test
