// SPDX-License-Identifier: MIT
// Functions, calls, labels and branches of one stream, found before anything is lowered (spec 05 A6
// steps 1, 6 and 7; decision 36).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "translator.hpp"

namespace neffld {

/// Source slots that a taken branch repeats or skips, with the branch that does it.
struct SlotRange {
  std::uint32_t first = 0, end = 0;
  std::uint32_t branch = 0;
};

/// A branch, hint or exit of the source stream.
struct SourceJump {
  std::uint32_t slot = 0;
  std::uint32_t target = 0;  ///< source slot; `to_postamble` for an exit
};
inline constexpr std::uint32_t to_postamble = 0xFFFF'FFFF;

struct ControlFlow {
  /// MAIN and the functions. Only source fields are set: name, slots, registers, calls, runs_once.
  std::vector<BodyPlan> bodies;
  std::vector<SourceJump> jumps;          ///< ascending slots
  std::vector<CallPlan> calls;            ///< ascending slots; triggers are not known yet
  std::vector<std::uint32_t> call_sites;  ///< by body
  std::vector<SlotRange> loops;           ///< disjoint, ascending
  std::vector<SlotRange> skipped;         ///< by forward branches; disjoint, ascending
  std::vector<std::uint32_t> computed;    ///< slots of branches whose target is in a register
};

/// Reads the control flow of a stream. Errors, with the slot: NRT_INVALID for function names that
/// are empty or occur twice, unknown callees and labels, targets outside MAIN or the function,
/// offsets that do not fit, functions that run past their end.
Result<ControlFlow> read_control_flow(const RecordChecker& checker, Bytes slots);

}  // namespace neffld
