// SPDX-License-Identifier: MIT
// One engine of the token model: a program counter over a staged image.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isa/record.hpp"
#include "neuron_abi/instruction.h"
#include "token_rings.hpp"

namespace neffld {

class TokenEngine {
 public:
  enum class Step : std::uint8_t { moved, waits, trouble };

  /// Reads the engine's image from the device.
  static Result<TokenEngine> make(const Locator& locator, const DeviceMemoryView& memory,
                                  std::uint32_t subgraph, Engine engine);

  /// Executes one record if its waits hold.
  Result<Step> step(TokenCores& cores, TokenRings& rings, TokenResult& result);

  /// Back at the gate after a complete run, or halted.
  bool finished() const { return halted_ || (pc_ == 0 && started_); }
  std::uint32_t subgraph() const { return subgraph_; }
  Engine engine() const { return engine_; }
  const std::string& trouble() const { return trouble_; }
  TokenResult::Outcome trouble_outcome() const { return trouble_outcome_; }

  StoppedEngine where() const;
  /// where(), and what it waits for.
  StoppedEngine waiting(const TokenCores& cores) const;
  /// Calls `each(core, semaphore)` for the semaphores that records from here on would raise.
  void for_each_left(const std::function<void(std::uint32_t, std::uint32_t)>& each) const;

 private:
  TokenEngine(const Locator& locator, std::uint32_t subgraph, Engine engine)
      : locator_(&locator), subgraph_(subgraph), engine_(engine) {}
  std::uint32_t core() const { return locator_->layout().subgraphs[subgraph_].core; }
  Bytes record_at(std::uint64_t offset) const {
    return Bytes(image_).subspan(offset, isa::slot_bytes);
  }
  /// Waits and updates of a record: its own, and the second ones of an A0.
  static std::array<neuron_sync, 2> waits_of(isa::Record record);
  static std::array<neuron_sync, 2> updates_of(isa::Record record);
  static bool holds(const neuron_sync& wait, const TokenCore& core, bool& known);
  static bool apply(const neuron_sync& update, TokenCore& core);

  Step fail_with(TokenResult::Outcome outcome, std::string text);
  Result<Step> execute(isa::Record record, TokenCores& cores, TokenRings& rings,
                       TokenResult& result);
  Step branch(isa::Record record);
  Step jump(std::uint64_t offset);
  void move(isa::Record record);
  void compute(isa::Record record);
  void forget_loaded(isa::Record record);
  /// Outcome of the comparison; nothing when a register is not known.
  std::optional<bool> taken(isa::Record record) const;

  const Locator* locator_;
  std::uint32_t subgraph_;
  Engine engine_;
  std::uint64_t base_ = 0;  ///< device address of the image
  std::vector<std::uint8_t> image_;
  std::uint64_t pc_ = 0;  ///< bytes
  bool started_ = false, halted_ = false;
  std::array<std::optional<std::uint32_t>, 256> registers_ = {};
  std::string trouble_;
  TokenResult::Outcome trouble_outcome_ = TokenResult::Outcome::fault;
};

}  // namespace neffld
