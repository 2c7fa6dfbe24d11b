// SPDX-License-Identifier: MIT
// Programs must not see in which order engines and transfers go on, as long as each ring keeps its
// own (spec 10 section 8).
#include <array>
#include <catch2/catch.hpp>

#include "model_run.hpp"
#include "neffld/sim_control.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::uint64_t seeds = 20;

}  // namespace

TEST_CASE("random orders of engines and transfers change no bit") {
  for (const char* number :
       {"05", "06", "07", "10", "11", "12", "pool-f16-v2", "attention-f32-v3"}) {
    if (!can_run(number)) continue;
    INFO("file " << number);
    ModelRun run(number);
    // Inputs change from run to run: what an earlier one left behind must never be right.
    std::array<std::vector<std::uint8_t>, 2> in_turns;
    for (std::uint64_t inputs = 0; inputs < 2; ++inputs) {
      run.set_inputs(1 + inputs);
      REQUIRE(run.judge().good);
      in_turns[inputs] = run.output().raw;
    }
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      INFO("seed " << seed);
      sim_set_schedule(run.device(), seed);
      run.set_inputs(1 + seed % 2);
      const auto executed = run.execute();
      if (!executed) FAIL(to_sentence(executed.error()));
      REQUIRE(run.output().raw == in_turns[seed % 2]);
    }
  }
}

TEST_CASE("rings that lose their order break the vector addition") {
  if (!real_file("05")) return;
  ModelRun run("05");
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim_set_schedule(run.device(), seed, false);
    run.set_inputs(seed);
    const auto executed = run.execute();
    if (!executed) FAIL(to_sentence(executed.error()));
    wrong += !reference::compare(run.program(), run.inputs(), run.output(), 0, 1).good;
  }
  CHECK(wrong > 0);
  sim_set_schedule(run.device(), 0);
  CHECK(run.judge().good);
}
