// SPDX-License-Identifier: MIT
// Engines of the token model (spec 05 A1 and A5, 08 s5, 10 s1; decisions 6, 30, 39).
#include "neffld/sync_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "isa/record.hpp"
#include "neffld/disassembler.hpp"
#include "token_engine.hpp"

namespace neffld {
namespace {

/// All engines of a model, run until none can go on.
class TokenRun {
 public:
  TokenRun(const Locator& locator, const DeviceMemoryView& memory, const TokenOptions& options)
      : locator_(locator),
        memory_(memory),
        options_(options),
        cores_(arch_table(locator.layout().arch).cores_per_device),
        rings_(locator, memory, cores_, result_, options.max_descriptors) {}

  Result<TokenResult> run() {
    NEFFLD_TRY(start());
    bool moved = true;
    while (moved) {
      moved = false;
      for (TokenEngine& engine : engines_) {
        for (;;) {
          NEFFLD_ASSIGN(const TokenEngine::Step step, engine.step(cores_, rings_, result_));
          if (step == TokenEngine::Step::trouble) return trouble(engine);
          if (step == TokenEngine::Step::waits) break;
          moved = true;
          if (++result_.records >= options_.max_records ||
              result_.descriptors >= options_.max_descriptors) {
            result_.outcome = TokenResult::Outcome::endless;
            result_.note = fmt::format(
                "{} records and {} descriptors ran and the program has not come to its end",
                result_.records, result_.descriptors);
            return std::move(result_);
          }
        }
      }
    }
    NEFFLD_TRY(collect_stopped());
    return std::move(result_);
  }

 private:
  Result<void> start() {
    const Layout& layout = locator_.layout();
    for (std::uint32_t s = 0; s < layout.subgraphs.size(); ++s) {
      for (const Engine engine : all_engines) {
        NEFFLD_ASSIGN(TokenEngine made, TokenEngine::make(locator_, memory_, s, engine));
        engines_.push_back(std::move(made));
        // Starting an execution opens the gate of the preamble once (spec 05 U).
        const std::uint32_t core = layout.subgraphs[s].core;
        cores_[core].semaphores[isa::start_semaphore + static_cast<std::size_t>(engine)] = 1;
      }
    }
    return {};
  }

  Result<TokenResult> trouble(const TokenEngine& engine) {
    result_.outcome = engine.trouble_outcome();
    result_.note = engine.trouble();
    StoppedEngine stopped = engine.where();
    stopped.reason = engine.trouble();
    result_.stopped.push_back(std::move(stopped));
    return std::move(result_);
  }

  Result<void> collect_stopped() {
    std::vector<const TokenEngine*> standing;
    for (const TokenEngine& engine : engines_) {
      if (!engine.finished()) standing.push_back(&engine);
    }
    if (standing.empty()) return {};
    result_.outcome = TokenResult::Outcome::deadlock;
    // Per core and semaphore: which standing engines could still raise it.
    std::vector<std::array<std::uint64_t, 256>> left(cores_.size());
    for (std::size_t i = 0; i < standing.size(); ++i) {
      const auto mark = [&](std::uint32_t core, std::uint32_t semaphore) {
        left[core][semaphore] |= 1ull << i;
      };
      standing[i]->for_each_left(mark);
      NEFFLD_TRY(rings_.for_each_left(standing[i]->subgraph(), standing[i]->engine(), mark));
    }
    for (std::size_t i = 0; i < standing.size(); ++i) {
      StoppedEngine stopped = standing[i]->waiting(cores_);
      const std::uint32_t core = locator_.layout().subgraphs[stopped.subgraph].core;
      stopped.nobody_left =
          !stopped.event && (left[core][stopped.index & 0xFF] & ~(1ull << i)) == 0;
      result_.stopped.push_back(std::move(stopped));
    }
    result_.note = fmt::format("{} engines wait and nothing can go on", standing.size());
    return {};
  }

  const Locator& locator_;
  const DeviceMemoryView& memory_;
  const TokenOptions& options_;
  TokenCores cores_;
  TokenResult result_;
  TokenRings rings_;
  std::vector<TokenEngine> engines_;
};

}  // namespace

std::string_view outcome_name(TokenResult::Outcome outcome) {
  switch (outcome) {
    case TokenResult::Outcome::finished:
      return "finished";
    case TokenResult::Outcome::deadlock:
      return "deadlock";
    case TokenResult::Outcome::fault:
      return "fault";
    case TokenResult::Outcome::not_modelled:
      return "not_modelled";
    case TokenResult::Outcome::endless:
      return "endless";
  }
  return "unknown";
}

Result<TokenResult> run_tokens(const Layout& layout, const DeviceMemoryView& memory,
                               const TokenOptions& options) {
  return guarded([&]() -> Result<TokenResult> {
    const Locator locator(layout);
    for (const Layout::Subgraph& subgraph : layout.subgraphs) {
      for (const Layout::Ring& ring : subgraph.rings) {
        if (ring.allocated == 0 || (ring.tx && ring.rx)) continue;
        return fail(Status::invalid, ErrorClass::usage,
                    {.member = subgraph.name, .path = subgraph.queues[ring.queue].name},
                    "its rings are not on the device, expected inputs and outputs to be bound");
      }
    }
    return TokenRun(locator, memory, options).run();
  });
}

}  // namespace neffld
