// SPDX-License-Identifier: MIT
#include "neffld/compatibility.hpp"

#include "sample_catalogue.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

Compatibility check(Bytes file, Arch arch = Arch::any, std::string driver = {}) {
  CompatibilityOptions options;
  options.arch = arch;
  options.driver = std::move(driver);
  auto result = check_compatibility(file, options);
  if (!result) FAIL(to_sentence(result.error()));
  return std::move(*result);
}

std::vector<std::uint8_t> bytes_of(std::string_view name) {
  const Bytes bytes = sample_bytes(name);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("what loads is compatible") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Compatibility c = check(sample_bytes(name));
    for (const Problem& problem : c.problems) UNSCOPED_INFO(problem.text);
    CHECK(c.compatible());
    // v2 needs 7 only for rings whose length is no power of two.
    CHECK((architecture_of(name) == 2 ? c.needs_interface == 5 || c.needs_interface == 7
                                      : c.needs_interface == 10));
    CHECK(c.records > 0);
  }
}

TEST_CASE("the other architecture, v4 and a driver of other versions are problems with a name") {
  const Bytes v3 = sample_bytes("vecadd-v3");
  CHECK_FALSE(check(v3, Arch::v2).compatible());
  CHECK_FALSE(check(v3, Arch::v4).compatible());
  CHECK(check(v3, Arch::v3, "10..11").compatible());
  CHECK(check(v3, Arch::v3, "2.24..2.30").compatible());
  CHECK(check(v3, Arch::v3, "11..40").compatible());
  const Compatibility old = check(v3, Arch::v3, "5..9");
  REQUIRE(old.problems.size() == 1);
  CHECK(old.problems[0].text.find("accepts runtime interfaces 5 to 9") != std::string::npos);
  CHECK_FALSE(check(v3, Arch::v3, "12").compatible());
  CHECK_FALSE(check(sample_bytes("vecadd-v2"), Arch::v2, "2..4").compatible());
  CHECK(check(sample_bytes("vecadd-v2"), Arch::v2, "2.27").compatible());
}

TEST_CASE("driver ranges that say nothing are usage errors") {
  for (const char* text : {"", "x", "7..5", "2.23", "2.24..2.31", "2.30..2.24", "5..", "..7", "-1",
                           "5..7..9", "99999999999"}) {
    INFO(text);
    const auto range = parse_driver_range(text, Arch::v3);
    REQUIRE_FALSE(range);
    CHECK(range.error().error_class == ErrorClass::usage);
  }
}

TEST_CASE("every set feature bit has a name and a state") {
  std::vector<std::uint8_t> file = bytes_of("vecadd-v3");
  for (unsigned bit = 0; bit < 27; ++bit) {
    store_le<std::uint64_t>(file, 0x220, 1ull << bit);
    const auto c = check_compatibility(file, {});
    if (!c) continue;  // the hash does not cover the header; only gates could refuse
    REQUIRE(c->features.size() == 1);
    CHECK(c->features[0].bit == bit);
    CHECK_FALSE(c->features[0].name.empty());
    CHECK_FALSE(c->features[0].state.empty());
  }
  store_le<std::uint64_t>(file, 0x220, 1ull << 27 | 1u);
  const Compatibility c = check(file);
  CHECK_FALSE(c.compatible());
  CHECK(c.features.size() == 2);
}

TEST_CASE("unsupported records are counted once a kind, with the first slot") {
  sample::SampleBuilder builder("refused", Arch::v3);
  builder.input("in", "float32", {128});
  builder.output("out", "float32", {128});
  auto& sg = builder.subgraph();
  sg.state_buffer();
  sg.input("in", builder.bytes("in"));
  sg.output("out", builder.bytes("out"));
  for (int i = 0; i < 3; ++i) sg.stream(Engine::act).add(sample::make_slot(0xC5));
  sg.stream(Engine::dve).add(sample::make_slot(0xDE));
  builder.empty_subgraph();
  const auto file = sample::pack(builder.build());
  REQUIRE(file);
  const Compatibility c = check(*file);
  REQUIRE(c.problems.size() == 2);
  CHECK(c.problems[0].count == 3);
  CHECK(c.problems[0].record == 2u);  // behind B1 and CC
  CHECK(c.problems[0].text.find("SEMAPHORE_SET") != std::string::npos);
  CHECK(c.problems[1].count == 1);
  CHECK(c.problems[1].text.find("TENSOR_COMPLETION") != std::string::npos);
}

TEST_CASE("damaged bytes are errors, not answers") {
  std::vector<std::uint8_t> file = bytes_of("vecadd-v3");
  file.resize(file.size() / 2);
  const auto cut = check_compatibility(file, {});
  REQUIRE_FALSE(cut);
  CHECK(cut.error().error_class == ErrorClass::format);
  CHECK_FALSE(check_compatibility(Bytes(file).first(100), {}));
}
