// SPDX-License-Identifier: MIT
// Turns one ioctl into a TraceCall: before it is made and after. Used by the recorder, and by the
// replayer so that both sides of a comparison are made alike.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "command_table.hpp"
#include "neffld/trace.hpp"

namespace neffld::shim {

std::array<std::uint8_t, 32> sha256(Bytes bytes);

class Capture {
 public:
  /// `keep_data`: keep the bytes of contents payloads, not only their hash.
  explicit Capture(bool keep_data) : keep_data_(keep_data) {}
  void keep_data(bool keep) { keep_data_ = keep; }

  /// The argument and what it sends.
  TraceCall before(std::uint64_t number, std::uint32_t command, const void* argument);
  /// Adds the result and what came back. `call.received` has its size from before().
  void after(TraceCall& call, const void* argument, int result);

 private:
  void read_argument(TraceCall& call, std::uint64_t address);
  void read_pointers(TraceCall& call);
  TracePayload read_payload(std::uint64_t address, std::uint64_t length, bool keep);
  void normalise(MutableBytes argument, Bytes raw, bool replies_only) const;

  const CommandInfo* info_ = nullptr;
  std::vector<std::uint8_t> raw_;  ///< the argument with its real addresses
  std::array<PointerState, 4> states_{};
  std::vector<std::uint8_t> piece_;
  bool keep_data_;
};

}  // namespace neffld::shim
