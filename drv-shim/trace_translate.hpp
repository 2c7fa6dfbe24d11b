// SPDX-License-Identifier: MIT
// A replay's device may hand out other handles and addresses than the recorded one. This keeps
// which is which, learnt from the replies, and puts the one in the other's place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "command_table.hpp"
#include "neffld/trace.hpp"

namespace neffld::shim {

class Translation {
 public:
  /// The argument of a call to be made: handles and addresses in its fields.
  void sent(const CommandInfo& info, MutableBytes argument) const;
  /// Memory the driver reads through a pointer: the buffers' addresses of descriptors.
  void sent_payload(const CommandInfo& info, const PointerRule& rule, MutableBytes bytes) const;
  /// Takes note of what a call gave that succeeded on both devices.
  void learn(const TraceCall& recorded, const TraceCall& made);
  /// The recorded reply as the device of the replay would give it.
  TraceCall expected(const TraceCall& recorded) const;

  /// An address of the recorded device on the device of the replay. What lies in no allocation that
  /// is known is the same on both.
  std::uint64_t address(std::uint64_t recorded) const;
  /// Handles and addresses that are not the same on both.
  std::uint64_t different() const { return different_; }

 private:
  struct Range {
    std::uint64_t bytes, live, handle;  ///< recorded handle; 0 = not known
  };

  std::uint64_t handle(std::uint64_t recorded) const;
  void pair_handle(std::uint64_t recorded, std::uint64_t live, std::uint64_t bytes);
  void pair_address(std::uint64_t recorded, const Range& range);
  /// The recorded handle's allocation is gone.
  void forget(std::uint64_t handle);
  void fields(const CommandInfo& info, MutableBytes argument, bool replies) const;

  std::map<std::uint64_t, std::uint64_t> handles_;  ///< recorded -> live
  std::map<std::uint64_t, std::uint64_t> sizes_;    ///< of the recorded handle's allocation
  std::map<std::uint64_t, Range> ranges_;           ///< by recorded address
  /// Handle and recorded address of every range; may also name ranges that are gone.
  std::set<std::pair<std::uint64_t, std::uint64_t>> range_of_handle_;
  std::uint64_t different_ = 0;
};

}  // namespace neffld::shim
