// SPDX-License-Identifier: MIT
// What a model of several ranks needs before it is loaded (spec 07 section 3.5). Communicators are
// not built: there are no other ranks.
#pragma once

#include <cstdint>

#include "neffld/error.hpp"
#include "topology.hpp"

namespace neffld::nrt {

/// A model's place among the ranks it is loaded for.
struct Rank {
  std::uint32_t id = 0;     ///< ctx_device_id, the model's gid
  std::uint32_t count = 1;  ///< ctx_device_count
};

/// Errors (NRT_INVALID): an id outside the count, a number of ranks that the links of a trn1
/// instance do not join, no or no valid NEURON_RT_ROOT_COMM_ID for several ranks.
Result<void> check_rank(const Rank& rank, const Topology& topology);

}  // namespace neffld::nrt
