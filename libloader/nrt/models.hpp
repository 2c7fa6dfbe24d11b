// SPDX-License-Identifier: MIT
// Loading and unloading models (spec 07 sections 3.4 to 3.6 and 6).
#pragma once

#include <cstdint>
#include <optional>

#include "collectives.hpp"
#include "neffld/bytes.hpp"
#include "neffld/error.hpp"
#include "runtime.hpp"

namespace neffld::nrt {

/// Loads a NEFF on a virtual core (-1: the least used) and returns its handle. `rank` is its
/// place among those that take part in its collectives. On failure everything is as it was before.
Result<void*> load_model(Runtime& runtime, Bytes neff, std::int32_t vnc,
                         const std::optional<Rank>& rank);

/// Ends a handle and unloads its model.
Result<void> unload_model(Runtime& runtime, const void* handle);

/// Unloads a registered model: waits for its users, frees its device memory, gives its core back.
Result<void> unload_record(Runtime& runtime, std::uint32_t h_nn);

/// The handle's record, counted. Errors: NRT_INVALID for NULL, NRT_INVALID_HANDLE.
Result<ModelRegistry::Reference> find_model(Runtime& runtime, const void* handle);

}  // namespace neffld::nrt
