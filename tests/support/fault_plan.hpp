// SPDX-License-Identifier: MIT
// Device faults by plan, for tests: not part of any library that is shipped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "neffld/device_file.hpp"

namespace neffld::test {

/// One fault. It strikes the `nth` call (from 1) of those that match, once.
struct Fault {
  enum class Kind : std::uint8_t {
    answer,         ///< the call is not made and answers `answer`: a negative errno or a residue
    after,          ///< the call is made, its answer is replaced by `answer`
    short_copy,     ///< a buffer copy moves only its first half and answers the rest as a residue
    out_of_memory,  ///< from the nth byte on, device allocations answer -ENOMEM for ever
    gone,           ///< from the nth call on every call answers `answer` and is not made
    nothing,        ///< the call is made as it is; `on_strike` does the harm
  };
  Kind kind = Kind::answer;
  std::uint64_t nth = 1;                 ///< call number, or bytes for out_of_memory
  std::optional<std::uint32_t> command;  ///< only calls of this command; none = any
  int answer = 0;
};

/// A fault and how far it has come.
struct PlannedFault {
  Fault fault;
  std::uint64_t seen = 0;  ///< matching calls so far
  bool struck = false;
};

/// What a plan has seen and done; shared with the test.
struct FaultLog {
  std::vector<PlannedFault> later;  ///< see plan_later()
  std::uint64_t calls = 0;
  std::uint64_t allocated = 0;        ///< bytes asked for and given
  std::vector<std::uint32_t> struck;  ///< commands of the faults that happened, in order
  std::function<void()> on_strike;    ///< called in the thread whose call a fault strikes
};

/// Passes calls on and lets the faults of the plan happen. A later fault is not affected by an
/// earlier one that struck.
std::unique_ptr<DeviceFile> plan_faults(std::unique_ptr<DeviceFile> device, std::vector<Fault> plan,
                                        std::shared_ptr<FaultLog> log);

/// Adds a fault to a plan at work, counted from now on, in the place of the one added before. No
/// call may be under way.
void plan_later(FaultLog& log, const Fault& fault);

/// True in a thread whose call the device below a plan is answering.
bool in_device_call();

}  // namespace neffld::test
