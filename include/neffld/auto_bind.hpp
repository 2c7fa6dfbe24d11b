// SPDX-License-Identifier: MIT
// Addresses for inputs and outputs when a tool needs some and nobody gave any.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "neffld/error.hpp"

namespace neffld {

class Session;
struct LoadedModel;

/// Addresses for every input and output of the model, in name order from the first HBM of its cores
/// on, where nothing of the session lies. Nothing is allocated there. Deterministic. Error:
/// NRT_RESOURCE when they fit nowhere.
Result<std::map<std::string, std::uint64_t, std::less<>>> free_io_addresses(
    const Session& session, const LoadedModel& model);

}  // namespace neffld
