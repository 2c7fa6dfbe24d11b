// SPDX-License-Identifier: MIT
// Completion counters of output tensors (spec 07 section 3.9, check_output_completion).
#pragma once

#include <cstdint>

#include "tensor.hpp"

namespace neffld::nrt {

/// The tensor was written by an execution that came to its end.
void complete_output(Tensor& tensor);
void reset_output(Tensor& tensor);
/// Waits until a tensor was completed `expected` times. `timeout` in microseconds, negative: for
/// ever. Error: NRT_TIMEOUT naming tensor and count.
Result<void> wait_for_output(const Tensor& tensor, std::int64_t timeout, std::uint64_t expected);

}  // namespace neffld::nrt
