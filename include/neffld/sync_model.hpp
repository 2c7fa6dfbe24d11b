// SPDX-License-Identifier: MIT
// The token self-test: runs the synchronisation of a loaded model, and nothing else of it, over the
// staged instruction images and rings (spec 08 s5). Transfers complete at once; data is not moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neffld/device_image.hpp"
#include "neffld/layout.hpp"

namespace neffld {

struct TokenOptions {
  // What is executed before a program counts as endless. A record can publish a whole ring, so
  // descriptors have a bound of their own.
  std::uint64_t max_records = 100'000'000;
  std::uint64_t max_descriptors = 250'000'000;
};

/// Where an engine stands when nothing can go on.
struct StoppedEngine {
  std::uint32_t subgraph = 0;
  Engine engine = Engine::pe;
  std::uint64_t image_slot = 0;
  std::optional<std::uint32_t> source_slot;  ///< of the NEFF
  std::string record;                        ///< its mnemonic
  std::string reason;                        ///< "waits for S[8]>=32, is 16"
  bool event = false;                        ///< it waits for an event, not for a semaphore
  std::uint32_t index = 0;                   ///< semaphore or event number
  std::uint32_t value = 0, wanted = 0;       ///< present value, value of the record
  /// No other engine that stands has a record or descriptor left that would raise it.
  bool nobody_left = false;
};

struct TokenResult {
  enum class Outcome : std::uint8_t {
    finished,      ///< every engine is back at its gate
    deadlock,      ///< `stopped` cannot go on
    fault,         ///< a ring or a stream left its bounds; `note` and `stopped` say where
    not_modelled,  ///< a record whose effect on synchronisation is not known
    endless,       ///< max_records or max_descriptors were executed
  };
  Outcome outcome = Outcome::finished;
  std::string note;
  std::vector<StoppedEngine> stopped;
  std::uint64_t records = 0;      ///< executed
  std::uint64_t descriptors = 0;  ///< descriptor pairs the rings completed
  std::uint64_t pokes = 0;        ///< of them, those that changed a semaphore or an event
  std::uint64_t transfers = 0;    ///< direct transfers started by records
};
std::string_view outcome_name(TokenResult::Outcome outcome);

/// Runs all subgraphs of a model together. The rings must be on the device, so inputs and outputs
/// must be bound. Errors: memory that cannot be read.
Result<TokenResult> run_tokens(const Layout& layout, const DeviceMemoryView& memory,
                               const TokenOptions& options = {});

}  // namespace neffld
