// SPDX-License-Identifier: MIT
// What a load does when any of its device calls or host allocations fails: it says
// so once, leaves nothing behind, and the next load works.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neffld/session.hpp"

namespace neffld::test {

struct SweepResult {
  std::uint64_t points = 0;  ///< device calls or host allocations of the load
  std::uint64_t faults = 0;  ///< how many loads had one
  std::vector<std::string> failures;
};

/// Loads and binds the model with each kind of fault at each device call, at most about `most`
/// calls of them; 0 = all. Behind the faults of a call comes a load without one, which must place
/// everything as ever.
SweepResult sweep_device(const ParsedModel& model, std::uint64_t most);

/// The names of the kinds of faults.
std::vector<std::string> fault_kinds();

/// Parses, loads and binds the file with each host allocation failing, at most about `most`.
SweepResult sweep_host(Bytes file, std::uint64_t most);

}  // namespace neffld::test
