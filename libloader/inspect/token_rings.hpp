// SPDX-License-Identifier: MIT
// Rings of the token model: descriptors complete as soon as both halves have published them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "neffld/sync_model.hpp"

namespace neffld {

/// Semaphores and events of one core.
struct TokenCore {
  std::array<std::uint32_t, 256> semaphores = {};
  std::array<std::uint32_t, 256> events = {};
};
using TokenCores = std::vector<TokenCore>;

/// Applies a write of `value` to a register of an event unit. False: the place is none.
bool write_event_unit(TokenCores& cores, const Place& place, std::uint32_t value);

class TokenRings {
 public:
  /// Stops without a word where `max_descriptors` of the result are reached.
  TokenRings(const Locator& locator, const DeviceMemoryView& memory, TokenCores& cores,
             TokenResult& result, std::uint64_t max_descriptors);

  /// A WRITE to a queue register. Returns what is wrong with it, or "".
  Result<std::string> write(const Place& place, std::uint32_t value);
  /// Calls `each(core, semaphore)` for the increments left on rings of one owner.
  Result<void> for_each_left(std::uint32_t subgraph, Engine owner,
                             const std::function<void(std::uint32_t, std::uint32_t)>& each);

 private:
  struct Ring {
    std::uint64_t tx_pa = 0, rx_pa = 0;
    std::uint32_t used = 0;
    std::uint64_t head = 0, tx_tail = 0, rx_tail = 0;
    bool read = false;
    std::uint32_t subgraph = 0;
    Engine owner = Engine::pool;
    std::string name;
    std::vector<std::uint8_t> tx, rx;
  };
  Result<void> fetch(Ring& ring);
  Result<std::string> advance(Ring& ring);
  /// The register an RX descriptor writes; kind `nothing` for data.
  Place poked(const Ring& ring, std::uint64_t index) const;

  const Locator& locator_;
  const DeviceMemoryView& memory_;
  TokenCores& cores_;
  TokenResult& result_;
  std::uint64_t max_descriptors_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Ring> rings_;
};

}  // namespace neffld
