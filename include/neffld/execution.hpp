// SPDX-License-Identifier: MIT
// What an execution of a bound model is asked for and what it tells (spec 04 sections 9 to 12).
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "neffld/arch.hpp"

namespace neffld {

struct ExecuteOptions {
  /// Wall clock one execution may take, 0 = no limit. The simulated device in the process watches
  /// it while it runs and gives up; each core's doorbell has it anew. A program that goes round for
  /// ever without computing or moving anything ends without it as well.
  std::chrono::milliseconds timeout{0};
  /// Decode every compute record of the model before its first execution and refuse one that is
  /// illegal or not modelled. Not for a device that skips compute.
  bool check_compute = true;
};

/// When an engine passed its gate and when it reported the end: picoseconds of the device's clock.
struct EngineSpan {
  std::uint64_t begin = 0, end = 0;
};

/// One physical core's part of an execution.
struct CoreExecution {
  std::uint32_t core = 0;
  std::uint64_t begin = 0, end = 0;  ///< first begin and last end of its engines
  std::array<EngineSpan, engine_count> engines{};
};

struct ExecutionReport {
  std::vector<CoreExecution> cores;  ///< in the order of the subgraphs
  bool switched = false;             ///< another model, or none, ran last on one of the cores
  bool tables_loaded = false;        ///< engine tables were loaded on one of the cores
  std::uint64_t records = 0;         ///< notification records harvested
  std::vector<std::string> warnings;
};

}  // namespace neffld
