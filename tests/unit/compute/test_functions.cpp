// SPDX-License-Identifier: MIT
// Activation functions: tables made here, and those of the real files if NEFFLD_NEFFS is set.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "real_files.hpp"
#include "records.hpp"
#include "test_memory.hpp"

using namespace neffld;
using namespace neffld::compute;
using namespace neffld::compute::test;

namespace {

using Buffer = std::vector<std::uint8_t>;

/// The buffers a core's windows would hold.
struct Tables {
  Buffer buckets, controls, profiles, directory;

  ActTables view() const { return {buckets, controls, profiles, directory}; }

  /// Adds a set; every piece starts at a multiple of 64.
  void add_set(Bytes bucket, Bytes control, const Buffer& set_profiles) {
    std::uint32_t words[6];
    std::size_t i = 0;
    const auto add = [&](Buffer& buffer, Bytes piece) {
      buffer.resize((buffer.size() + 63) / 64 * 64);
      words[i++] = static_cast<std::uint32_t>(buffer.size());
      words[i++] = static_cast<std::uint32_t>(piece.size());
      buffer.insert(buffer.end(), piece.begin(), piece.end());
    };
    add(buckets, bucket);
    add(controls, control);
    add(profiles, set_profiles);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
    directory.insert(directory.end(), bytes, bytes + sizeof words);
  }
};

/// 76 bytes (spec 02 section 10.4).
Buffer profile_record(const ActProfile& p) {
  Buffer record(76);
  const auto u32 = [&](std::size_t at, std::uint32_t value) { store_le(record, at, value); };
  const auto u16 = [&](std::size_t at, std::uint16_t value) { store_le(record, at, value); };
  u32(0, p.func_id);
  u32(4, p.symmetry_point);
  record[8] = p.sym_invert_sign;
  record[9] = p.symmetry_opt_en;
  record[10] = p.symmetry_opt_use_neg_region;
  u32(12, static_cast<std::uint32_t>(p.exp_offset));
  u32(16, p.pwl_control_base_pos);
  u32(20, p.pwl_control_base_neg);
  record[24] = p.small_pos_exp_threshold;
  record[25] = p.small_neg_exp_threshold;
  record[26] = p.large_pos_exp_threshold;
  record[27] = p.large_neg_exp_threshold;
  u16(28, p.small_pos_pwl_control);
  u16(30, p.small_neg_pwl_control);
  u16(32, p.large_pos_pwl_control);
  u16(34, p.large_neg_pwl_control);
  u32(36, p.large_pos_mantissa_threshold);
  u32(40, p.large_neg_mantissa_threshold);
  u32(48, p.fnan_result);
  u32(52, p.fpinf_result);
  u32(56, p.fninf_result);
  u32(60, p.fzero_result);
  record[72] = p.fma_indirection_src_sel;
  return record;
}

/// A bucket: y = d0 + t*(d1 + t*(d2 + t*d3)), t = x - x0.
void add_bucket(Buffer& buckets, std::initializer_list<float> values) {
  Buffer entry(32);
  std::memcpy(entry.data(), values.begin(), 4 * values.size());
  buckets.insert(buckets.end(), entry.begin(), entry.end());
}
void add_control(Buffer& controls, std::uint32_t base, std::uint32_t lsb, std::uint32_t size) {
  Buffer entry(32);
  store_le(entry, 0, base | lsb << 11 | size << 16);
  controls.insert(controls.end(), entry.begin(), entry.end());
}

/// Piecewise: |x| < 1 is 100, [1,2) in four buckets 0..3 by mantissa, [2,3) is 10 + t, from 3 on
/// 50; negative values -1 times less.
struct Staircase {
  Staircase() {
    for (int i = 0; i < 4; ++i) add_bucket(buckets, {static_cast<float>(i), 0, 0, 0, 0});
    add_bucket(buckets, {10, 1, 0, 0, 2});   // 4
    add_bucket(buckets, {50, 0, 0, 0, 0});   // 5
    add_bucket(buckets, {100, 0, 0, 0, 0});  // 6
    add_control(controls, 0, 21, 2);
    add_control(controls, 4, 0, 0);
    profile.func_id = 77;
    profile.exp_offset = 0;
    profile.small_pos_exp_threshold = profile.small_neg_exp_threshold = 127;
    profile.large_pos_exp_threshold = profile.large_neg_exp_threshold = 128;
    profile.large_pos_mantissa_threshold = profile.large_neg_mantissa_threshold = 0x40'0000;
    profile.small_pos_pwl_control = profile.small_neg_pwl_control = 6;
    profile.large_pos_pwl_control = profile.large_neg_pwl_control = 5;
    profile.fnan_result = 0x4040'0000;   // 3
    profile.fpinf_result = 0x4080'0000;  // 4
    profile.fninf_result = 0x40A0'0000;  // 5
    profile.fzero_result = 0x40C0'0000;  // 6
  }
  Tables tables() const {
    Tables made;
    made.add_set(buckets, controls, profile_record(profile));
    return made;
  }
  Buffer buckets, controls;
  ActProfile profile;
};

std::vector<float> evaluate(const Tables& tables, std::uint32_t id, std::vector<float> values,
                            std::uint32_t set_index = 0) {
  auto set = FunctionSet::load(tables.view(), set_index);
  if (!set) FAIL(set.error());
  const auto function = set->function(id);
  if (!function) FAIL(function.error());
  (*function)->evaluate(values.data(), values.data(), values.size());
  return values;
}

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan_value = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("buckets are chosen by sign, exponent, mantissa and the two thresholds") {
  Staircase stairs;
  CHECK(
      evaluate(stairs.tables(), 77,
               {0.5f, 0.99f, 1.f, 1.2f, 1.25f, 1.5f, 1.99f, 2.f, 2.5f, 2.999f, 3.f, 4.f, 1e30f}) ==
      std::vector<float>{100, 100, 0, 0, 1, 2, 3, 10, 10.5f, 10 + (2.999f - 2), 50, 50, 50});
  CHECK(evaluate(stairs.tables(), 77, {1e-40f, -1e-40f}) == std::vector<float>{100, 100});
}

TEST_CASE("zero, infinities and NaN have results of their own") {
  Staircase stairs;
  CHECK(evaluate(stairs.tables(), 77, {0.f, -0.f, infinity, -infinity, nan_value}) ==
        std::vector<float>{6, 6, 4, 5, 3});
}

TEST_CASE("symmetric functions take the positive region and may change the sign") {
  Staircase stairs;
  stairs.profile.symmetry_opt_en = 1;
  stairs.profile.small_neg_pwl_control = 0xFFFF;  // is not looked at
  CHECK(evaluate(stairs.tables(), 77, {-0.5f, -1.5f, -2.5f, -9.f}) ==
        std::vector<float>{100, 2, 10.5f, 50});
  stairs.profile.sym_invert_sign = 1;
  CHECK(evaluate(stairs.tables(), 77, {-0.5f, -1.5f, -2.5f, 2.5f, -infinity}) ==
        std::vector<float>{-100, -2, -10.5f, 10.5f, 5});
}

TEST_CASE("a set is found behind others, with its own tables") {
  Staircase stairs, other;
  other.buckets[3] ^= 0x80;
  add_bucket(other.buckets, {1, 2, 3, 4, 5});
  Tables tables = other.tables();
  tables.add_set(stairs.buckets, stairs.controls, profile_record(stairs.profile));
  CHECK(evaluate(tables, 77, {1.25f, 2.5f}, 1) == std::vector<float>{1, 10.5f});
  CHECK_FALSE(FunctionSet::load(tables.view(), 2));
}

TEST_CASE("functions that are missing, not modelled or leave their tables are refused") {
  const auto refusal = [](const Tables& tables, std::uint32_t id) {
    auto set = FunctionSet::load(tables.view(), 0);
    if (!set) return set.error();
    const auto function = set->function(id);
    return function ? std::string() : function.error();
  };
  Staircase stairs;
  CHECK(refusal(stairs.tables(), 77).empty());
  CHECK(refusal(stairs.tables(), 7) == "function is 7, which the loaded set does not have");
  stairs.profile.fma_indirection_src_sel = 2;
  CHECK_THAT(refusal(stairs.tables(), 77), Catch::Contains("needs an operand (source 2)"));
  stairs = {};
  stairs.profile.symmetry_opt_en = 1;
  stairs.profile.symmetry_opt_use_neg_region = 1;
  CHECK_THAT(refusal(stairs.tables(), 77), Catch::Contains("symmetry is not modelled"));
  stairs = {};
  stairs.profile.large_neg_pwl_control = 7;
  CHECK_THAT(refusal(stairs.tables(), 77), Catch::Contains("expected ones below 7"));
  stairs = {};
  stairs.profile.exp_offset = 1;
  CHECK_THAT(refusal(stairs.tables(), 77), Catch::Contains("control entry -1, expected one of 2"));
  stairs = {};
  stairs.controls[0] = 5;  // four buckets from the sixth on
  CHECK_THAT(refusal(stairs.tables(), 77), Catch::Contains("bucket 8, expected one below 7"));
  Tables cut = Staircase().tables();
  cut.buckets.resize(32);
  CHECK_THAT(refusal(cut, 77), Catch::Contains("leaves the tables: bucket 0+224"));
}

TEST_CASE("ACTIVATE runs the function of the loaded set on scaled and biased values") {
  const Tables tables = Staircase().tables();
  TestMemory memory(window, window);
  CoreMemory core_memory = memory.memory();
  core_memory.act = tables.view();
  for (const Kernels* kernels : available_kernels()) {
    Core core(core_memory, Arch::v3, *kernels);
    REQUIRE(core.run(load_functions(0).bytes()));
    for (std::size_t p = 0; p < 4; ++p) {
      const float values[] = {1, 2, 4, -1};
      const auto bias = static_cast<float>(p);
      std::memcpy(memory.partition(false, p), values, sizeof values);
      std::memcpy(memory.partition(true, p) + 0x40, &bias, 4);
    }
    Draft draft =
        activate({sbuf(0), {{1, 4}}}, {sbuf(0x100), {{1, 4}}}, Dtype::fp32, Dtype::fp32, 4, 77);
    draft.f32(0x24, 0.5f).u8(0x0F, 0).u8(0x20, 0xAA).u32(0x28, psum(0x40));
    REQUIRE(core.run(draft.bytes()));
    for (std::size_t p = 0; p < 4; ++p) {
      const auto b = static_cast<float>(p);
      const auto expected = evaluate(tables, 77, {0.5f + b, 1 + b, 2 + b, -0.5f + b});
      CHECK(std::memcmp(memory.partition(false, p) + 0x100, expected.data(), 16) == 0);
    }
  }
}

namespace {

/// The sets of every real file with one, as a core would have them.
template <class Check>
void for_each_real_set(const char* folder, Check check) {
  for_each_real_file(folder, [&check](const std::vector<Kbin>& kbins) {
    for (const Kbin& kbin : kbins) {
      if (kbin.act_sets.empty()) continue;
      Tables tables;
      for (const ActSet& set : kbin.act_sets) {
        Buffer profiles;
        for (const ActProfile& profile : set.profiles) {
          const Buffer record = profile_record(profile);
          profiles.insert(profiles.end(), record.begin(), record.end());
        }
        tables.add_set(set.bucket, set.control, profiles);
      }
      check(tables);
    }
  });
}

std::vector<float> samples(float low, float high) {
  std::vector<float> values;
  for (int i = 0; i <= 40'000; ++i) {
    values.push_back(low + (high - low) * static_cast<float>(i) / 40'000);
  }
  for (float x = 1e-30f; x < 1e30f; x *= 1.37f) {
    if (x <= high) values.push_back(x);
    if (-x >= low) values.push_back(-x);
  }
  return values;
}

struct Bound {
  std::uint32_t id;
  float low, high;
  double absolute, relative;
  double (*exact)(double);
};
constexpr double ulp = 1.2e-7;

}  // namespace

TEST_CASE("functions of the real tables are as near to the exact ones as the specification says") {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) {
    WARN("skipped: NEFFLD_NEFFS is not set, no real table is evaluated");
    return;
  }
  const Bound bounds[] = {
      {7, -87, 88, 0, 1.2e-5, [](double x) { return std::exp(x); }},
      {6, -20, 20, 2.8e-7, 0, [](double x) { return std::tanh(x); }},
      {1, -1e6, 1e6, 0, 0, [](double x) { return x; }},
      {128, -1e6, 1e6, 0, 0, [](double x) { return x; }},
      {2, -1e6, 1e6, 0, 0, [](double x) { return x > 0 ? x : 0; }},
      {33, -1e6, 1e6, 0, 0, [](double x) { return std::fabs(x); }},
      {31, -1e6, 1e6, 0, 0, [](double x) { return x > 0   ? 1.0
                                                  : x < 0 ? -1.0
                                                          : 0.0; }},
      {35, -1e6, 1e6, 0, 0, [](double) { return 1.0; }},
      {130, -1e6, 1e6, 0, 0, [](double) { return 0.0; }},
      {11, -1e6, 1e6, 0, 0, [](double) { return 1.0; }},
      {30, -1e15f, 1e15f, 0, ulp, [](double x) { return x * x; }},
      {3, -1e6, 1e6, 0, ulp, [](double x) { return x >= 0 ? x : x * 0.01f; }},
  };
  unsigned sets = 0;
  for_each_real_set(folder, [&](const Tables& tables) {
    ++sets;
    for (const Bound& bound : bounds) {
      INFO(bound.id);
      const auto values = samples(bound.low, bound.high);
      const auto results = evaluate(tables, bound.id, values);
      double worst = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double exact = bound.exact(values[i]);
        const double excess = std::fabs(results[i] - exact) - bound.absolute -
                              bound.relative * std::fabs(exact) - 1e-38;
        worst = std::max(worst, excess);
      }
      CHECK(worst <= 0);
    }
    const auto edges = evaluate(tables, 7, {89, 1000, -104, -1000, 0, infinity, -infinity});
    CHECK(edges == std::vector<float>{infinity, infinity, 0, 0, 1, infinity, 0});
    CHECK(std::isnan(evaluate(tables, 7, {nan_value})[0]));
  });
  CHECK(sets > 0);
}
