// SPDX-License-Identifier: MIT
// Waiting for an execution: what the engines of a core report, in which order (spec 04 section 10,
// "Harvest").
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core_unit.hpp"
#include "neffld/execution.hpp"

namespace neffld {

/// "PE", "ACT", "POOL", "DVE", "SP", as messages name engines.
std::string_view engine_label(Engine engine);

/// The harvest of one core in one execution.
class CoreHarvest {
 public:
  explicit CoreHarvest(CoreUnit& unit) : unit_(&unit) { report_.core = unit.core(); }

  /// Reads what is new, at most 16 records of each engine that is not done. Returns how many.
  /// Errors: NRT_FAILURE a record out of order or of an unexpected kind, NRT_EXEC_OOB,
  /// NRT_HW_ERROR; they name the engine.
  Result<std::size_t> step(DeviceCalls& calls);
  bool complete() const;
  /// Takes the error records that came so far.
  Result<std::vector<neuron_notification>> take_errors(DeviceCalls& calls);

  /// "PE posted no START" for the engines that are not done.
  std::string missing() const;
  const CoreExecution& report() const { return report_; }
  CoreUnit& unit() const { return *unit_; }

 private:
  enum class State : std::uint8_t { start_pending, end_pending, complete };
  Result<void> take(Engine engine, const neuron_notification& record);
  void start(std::size_t engine, std::uint64_t time);
  void end(std::size_t engine, std::uint64_t time);

  CoreUnit* unit_;
  std::array<State, engine_count> states_{};
  CoreExecution report_;
};

}  // namespace neffld
