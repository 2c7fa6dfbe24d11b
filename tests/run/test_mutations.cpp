// SPDX-License-Identifier: MIT
// The proof that running models tests every rule of spec 10: with one rule changed the named files
// go wrong, and all others keep every bit (spec 10 section 10). Real files have numbers; two small
// generated models stand for kinds of file that take long or are not at hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "device_compute.hpp"
#include "model_run.hpp"
#include "neffld/sim_control.hpp"

using namespace neffld;
using namespace neffld::test;
using compute::Mutation;

namespace {

using Files = std::vector<std::string_view>;

/// A changed rule and what it does to files; those of no list keep their outputs bit for bit.
struct Row {
  const char* rule;
  Mutation mutation;
  Files broken;     ///< out of tolerance, or not run at all
  Files different;  ///< other bits, but inside the tolerance
  Files alike;      ///< maybe other bits, inside the tolerance; fp32 within `rounding`
};

/// What a rule that only moves roundings may change of fp32, relative to the largest value.
constexpr double rounding = 1e-6;

constexpr std::string_view pool = "pool-f16-v2", attention = "attention-f32-v3";

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"weights not reversed",
       Mutation::weights_not_reversed,
       {"01", "02", "06", "07", "08", "09", "11", "12", pool, attention},
       {},
       {}},
      {"begin flag ignored",
       Mutation::begin_ignored,
       {"01", "02", "07", "08", "09", "10", "11", "12", pool, attention},
       {},
       {}},
      // The generated attention adds up the two fp32 passes only, of which one carries everything.
      {"every matmul overwrites",
       Mutation::always_begin,
       {"01", "02", "07", "08", "09", "10", "11", "12", pool},
       {},
       {}},
      {"fp32 pass of mode 1 dropped",
       Mutation::drop_low_pass,
       {"02", "08", attention},
       {"10", "11"},
       {}},
      {"fp32 pass of mode 2 dropped",
       Mutation::drop_high_pass,
       {"02", "08", "10", "11", attention},
       {},
       {}},
      {"fp32 passes swapped", Mutation::passes_swapped, {}, {attention}, {"02", "08", "10", "11"}},
      {"transpose writes fp32", Mutation::transpose_writes_fp32, {"09", "10", "11", "12"}, {}, {}},
      {"steps in bytes",
       Mutation::steps_in_bytes,
       {"01", "02", "05", "06", "07", "08", "09", "10", "11", "12", pool, attention},
       {},
       {}},
      // All operands of 05 and 06 have one dimension, and the order of a maximum does not matter.
      {"dims in reverse order",
       Mutation::dims_reversed,
       {"01", "02", "07", "08", "09", "10", "11", "12", pool},
       {},
       {}},
      {"negate ignored", Mutation::negate_ignored, {"10", "11", attention}, {}, {}},
      {"bias ignored", Mutation::bias_ignored, {"01", "02", "10", "11", pool, attention}, {}, {}},
      {"axis codes 2 and 3 are one dim more",
       Mutation::axis_one_more,
       {"04", "10", "11", pool, attention},
       {},
       {}},
      {"axis code 3 is one dim", Mutation::axis_one_less, {"04", pool}, {}, {}},
      {"exp exact instead of the table", Mutation::exact_exp, {}, {"10", "11", attention}, {}},
      {"nibbles of 41 swapped",
       Mutation::nibbles_of_tensor_tensor_swapped,
       {"01", "07", "09", pool},
       {},
       {}},
      {"nibbles of 21 swapped", Mutation::nibbles_of_activate_swapped, {"01", pool}, {}, {}},
      {"scale ignored", Mutation::scale_ignored, {}, {}, {}}};
  return all;
}

/// Attention needs large logits for some of its rules.
constexpr std::uint64_t large_seed = 3;

struct Outcome {
  std::string refusal;  ///< empty: executed
  reference::Tensor output;
  reference::Comparison judged;
  bool good() const { return refusal.empty() && judged.good; }
};

Outcome outcome_under(ModelRun& run, Mutation mutation, std::uint64_t channels) {
  sim_compute(run.device())->mutate(mutation);
  const auto executed = run.execute();
  Outcome outcome;
  if (!executed) {
    outcome.refusal = to_sentence(executed.error());
    INFO(outcome.refusal);
    CHECK(executed.error().error_class != ErrorClass::resource);
    return outcome;
  }
  outcome.output = run.output();
  outcome.judged = reference::compare(run.program(), run.inputs(), outcome.output, channels, 1);
  return outcome;
}

/// Failed comparisons of whole outputs are not printed: they are megabytes.
bool same(const Outcome& one, const Outcome& other) {
  return one.output.raw == other.output.raw;
}

/// Largest difference; NaN and what is not there are infinitely different.
double distance(const Outcome& one, const Outcome& other) {
  if (one.output.raw.size() != other.output.raw.size()) return INFINITY;
  double largest = 0;
  for (std::uint64_t i = 0; i < one.output.elements(); ++i) {
    const std::uint32_t a = one.output.bits(i), b = other.output.bits(i);
    if (a == b) continue;
    const double apart = std::fabs(reference::to_double(a, one.output.type) -
                                   reference::to_double(b, other.output.type));
    largest = apart >= 0 ? std::max(largest, apart) : INFINITY;
  }
  return largest;
}

void check_row(const Row& row, std::string_view file, const Outcome& right, const Outcome& wrong) {
  const auto in = [&](const Files& files) {
    return std::find(files.begin(), files.end(), file) != files.end();
  };
  INFO(row.rule);
  INFO("error " << wrong.judged.max_error << " of " << wrong.judged.max_reference << wrong.refusal);
  if (in(row.broken)) {
    CHECK_FALSE(wrong.good());
  } else if (in(row.different)) {
    CHECK(wrong.good());
    CHECK_FALSE(same(wrong, right));
  } else if (in(row.alike)) {
    CHECK(wrong.good());
    if (right.output.type == reference::Type::float32) {
      CHECK(distance(wrong, right) <= rounding * right.judged.max_reference);
    }
  } else {
    CHECK(same(wrong, right));
  }
}

using Chosen = bool (*)(const Row&);

bool any_rule(const Row& /*row*/) {
  return true;
}
bool of_axis_codes(const Row& row) {
  return row.mutation == Mutation::axis_one_more || row.mutation == Mutation::axis_one_less;
}

void check_file(const char* number, std::uint64_t channels, Chosen chosen = any_rule) {
  if (!can_run(number)) return;
  INFO("file " << number);
  ModelRun run(number);
  run.set_inputs(large_seed);
  const Outcome right = outcome_under(run, Mutation::none, channels);
  INFO(right.refusal);
  REQUIRE(right.good());
  for (const Row& row : rows()) {
    if (chosen(row)) check_row(row, number, right, outcome_under(run, row.mutation, channels));
  }
  const Outcome again = outcome_under(run, Mutation::none, channels);
  CHECK(same(again, right));
}

/// Gives fields that need no action other values in all LDWEIGHTS and MATMUL: the end of an
/// accumulation, row and column groups, and on v2 xbus_sel. Returns how many records there are.
std::size_t change_idle_fields(ModelRun& run, std::uint32_t subgraph) {
  constexpr std::size_t record_bytes = 64, at_accumulate = 0x2B, at_row_group = 0x2C,
                        at_column_group = 0x2D, at_xbus = 0x2E;
  constexpr std::uint8_t end = 2, every_group = 0x0F, first_group = 0x01, load = 0x01,
                         product = 0x02;
  std::vector<std::uint8_t> image = run.read(run.image(subgraph, Engine::pe),
                                             run.image_slots(subgraph, Engine::pe) * record_bytes);
  std::size_t changed = 0;
  for (std::size_t at = 0; at < image.size(); at += record_bytes) {
    if (image[at] != load && image[at] != product) continue;
    if (image[at] == product) image[at + at_accumulate] ^= end;
    for (const std::size_t group : {at_row_group, at_column_group}) {
      image[at + group] = image[at + group] == every_group ? first_group : every_group;
    }
    if (run.model().plan.arch == Arch::v2) image[at + at_xbus] ^= 0x1F;
    ++changed;
  }
  run.write(run.image(subgraph, Engine::pe), image);
  return changed;
}

void check_idle_fields(const char* number, std::uint64_t channels) {
  if (!can_run(number)) return;
  INFO("file " << number);
  ModelRun run(number);
  run.set_inputs(1);
  const Outcome right = outcome_under(run, Mutation::none, channels);
  INFO(right.refusal);
  REQUIRE(right.good());
  std::size_t changed = 0;
  for (std::uint32_t i = 0; i < run.model().parsed.kbins.size(); ++i) {
    changed += change_idle_fields(run, i);
  }
  REQUIRE(changed > 0);
  CHECK(same(outcome_under(run, Mutation::none, channels), right));
}

}  // namespace

TEST_CASE("a changed rule makes the files that rest on it wrong and no others") {
  for (const char* number : {"05", "06", "07", "10", "11", "12"}) check_file(number, 0);
  for (const std::string_view name : {pool, attention}) check_file(name.data(), 0);
}

TEST_CASE("end flags, row and column groups and xbus change nothing") {
  for (const char* number : {"06", "07", "10", "11", "12"}) check_idle_fields(number, 0);
  for (const std::string_view name : {pool, attention}) check_idle_fields(name.data(), 0);
}

// Minutes.
TEST_CASE("a changed rule makes the long files that rest on it wrong", "[.long]") {
  for (const char* number : {"01", "02", "08", "09"}) check_file(number, 12);
}

TEST_CASE("end flags, row and column groups and xbus change nothing in long files", "[.long]") {
  for (const char* number : {"01", "02", "09"}) check_idle_fields(number, 12);
}

// The one real file with axis code 3; its other records are also in 02.
TEST_CASE("a changed axis code makes the pool file wrong", "[.long]") {
  check_file("04", 2, of_axis_codes);
}
