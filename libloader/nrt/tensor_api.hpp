// SPDX-License-Identifier: MIT
// Finding the objects behind tensor handles.
#pragma once

#include <memory>

#include "runtime.hpp"

namespace neffld::nrt {

/// The tensor of a handle. Error: NRT_INVALID naming the parameter, for NULL and stale handles.
Result<std::shared_ptr<Tensor>> find_tensor(Runtime& runtime, const void* handle,
                                            const char* parameter);
/// The same for tensor sets.
Result<std::shared_ptr<TensorSet>> find_set(Runtime& runtime, const void* handle,
                                            const char* parameter);

}  // namespace neffld::nrt
