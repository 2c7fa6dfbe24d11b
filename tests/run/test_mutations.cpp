// SPDX-License-Identifier: MIT
// The proof that running real models tests every rule of spec 10: with one rule changed the named
// files go wrong (spec 10 section 10).
#include <algorithm>
#include <catch2/catch.hpp>

#include "device_compute.hpp"
#include "model_run.hpp"
#include "neffld/sim_control.hpp"

using namespace neffld;
using namespace neffld::test;
using compute::Mutation;

namespace {

struct Row {
  const char* rule;
  Mutation mutation;
  std::vector<const char*> broken;     ///< files that must be out of tolerance, or not run at all
  std::vector<const char*> different;  ///< files whose output must differ, if only by roundings
  std::vector<const char*> unchanged;  ///< files whose output must not differ in a bit
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"weights not reversed",
       Mutation::weights_not_reversed,
       {"06", "12", "07", "11", "08", "02"},
       {},
       {"05"}},
      {"begin flag ignored", Mutation::begin_ignored, {"10", "11"}, {}, {"05"}},
      {"every matmul overwrites",
       Mutation::always_begin,
       {"12", "07", "10", "11"},
       {},
       {"05", "06"}},
      {"fp32 pass of mode 1 dropped",
       Mutation::drop_low_pass,
       {"08", "02"},
       {"10", "11"},
       {"05", "12", "07"}},
      {"fp32 pass of mode 2 dropped",
       Mutation::drop_high_pass,
       {"10", "11"},
       {},
       {"05", "12", "07"}},
      {"transpose writes fp32",
       Mutation::transpose_writes_fp32,
       {"10", "11", "12"},
       {},
       {"05", "06"}},
      {"steps in bytes", Mutation::steps_in_bytes, {"05", "06", "07", "10", "11", "12"}, {}, {}},
      // All operands of 05 and 06 have one dimension.
      {"dims in reverse order",
       Mutation::dims_reversed,
       {"07", "10", "11", "12"},
       {},
       {"05", "06"}},
      {"negate ignored", Mutation::negate_ignored, {"10", "11"}, {}, {"05", "06", "07", "12"}},
      {"bias ignored", Mutation::bias_ignored, {"10", "11"}, {}, {"05", "06", "07", "12"}},
      {"axis code 2 is two dims",
       Mutation::axis_one_more,
       {"10", "11"},
       {},
       {"05", "06", "07", "12"}},
      {"exp exact instead of the table", Mutation::exact_exp, {}, {}, {"05", "06", "07", "12"}},
      {"nibbles of 41 swapped",
       Mutation::nibbles_of_tensor_tensor_swapped,
       {"07"},
       {},
       {"05", "06"}},
      {"scale ignored", Mutation::scale_ignored, {}, {}, {"05", "06", "07", "10", "11", "12"}}};
  return all;
}

/// Attention needs large logits for some of its rules.
constexpr std::uint64_t large_seed = 3;

struct Outcome {
  bool executed = false, good = false;
  std::vector<std::uint8_t> output;
};

Outcome outcome_under(ModelRun& run, Mutation mutation, std::uint64_t channels) {
  sim_compute(run.device())->mutate(mutation);
  const auto executed = run.execute();
  Outcome outcome;
  outcome.executed = executed.has_value();
  if (!executed) {
    INFO(to_sentence(executed.error()));
    CHECK(executed.error().error_class != ErrorClass::resource);
    return outcome;
  }
  const reference::Tensor output = run.output();
  outcome.output = output.raw;
  outcome.good = reference::compare(run.program(), run.inputs(), output, channels, 1).good;
  return outcome;
}

void check_file(const char* number, std::uint64_t channels) {
  if (!real_file(number)) return;
  INFO("file " << number);
  const auto names = [&](const std::vector<const char*>& files) {
    return std::any_of(files.begin(), files.end(),
                       [&](const char* file) { return std::string_view(file) == number; });
  };
  ModelRun run(number);
  run.set_inputs(large_seed);
  const Outcome right = outcome_under(run, Mutation::none, channels);
  REQUIRE(right.good);
  for (const Row& row : rows()) {
    if (!names(row.broken) && !names(row.different) && !names(row.unchanged)) continue;
    INFO(row.rule);
    const Outcome wrong = outcome_under(run, row.mutation, channels);
    if (names(row.broken)) CHECK_FALSE(wrong.good);
    if (names(row.different)) CHECK(wrong.output != right.output);
    if (names(row.unchanged)) CHECK(wrong.output == right.output);
  }
  const Outcome again = outcome_under(run, Mutation::none, channels);
  CHECK(again.output == right.output);
}

}  // namespace

TEST_CASE("a changed rule makes the files that rest on it wrong") {
  for (const char* number : {"05", "06", "07", "10", "11", "12"}) check_file(number, 0);
}

TEST_CASE("a changed rule makes the long files that rest on it wrong", "[.long]") {
  for (const char* number : {"08", "02"}) check_file(number, 12);
}
