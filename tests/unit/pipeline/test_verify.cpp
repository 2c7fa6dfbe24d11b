// SPDX-License-Identifier: MIT
// verify() compares the device with a fresh relocation.
#include <catch2/catch.hpp>

#include "devices.hpp"

using namespace neffld;
using namespace neffld::test;

TEST_CASE("every sample verifies after its load and after bind") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    Bench bench(architecture_of(name));
    LoadedModel& model = load(bench, name);
    const auto loaded = bench.session->verify(model);
    if (!loaded) FAIL(to_sentence(loaded.error()));
    CHECK(*loaded > 0);
    REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
    const auto bound = bench.session->verify(model);
    if (!bound) FAIL(to_sentence(bound.error()));
    CHECK(*bound >= *loaded);
  }
}

TEST_CASE("a byte changed behind the loader's back is found, named and its place given") {
  Bench bench(2);
  LoadedModel& model = load(bench, "conv-like-v2");
  REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
  std::map<std::uint32_t, std::uint64_t> filled;
  Ledger ledger;
  const SectionSink sizes = [&](const SectionContent& content) -> Result<void> {
    filled[content.request] = content.bytes.size();
    return {};
  };
  REQUIRE(relocate(model.parsed.kbins, model.plan, model.addresses, ledger, sizes));
  REQUIRE(relocate_bound(model.parsed.kbins, model.plan, model.addresses, ledger, sizes));
  CHECK(filled.size() > 40);
  for (const auto& [request, size] : filled) {
    const AllocationInfo& info = model.allocations.at(request);
    REQUIRE(info.owner == model.plan.requests[request].owner);
    for (const std::uint64_t offset : {std::uint64_t{0}, size / 2, size - 1}) {
      INFO(info.owner << " at " << offset);
      const std::uint8_t old = peek(bench, info.handle, 1, offset)[0];
      poke(bench, info.handle, offset, old ^ 0x40);
      const auto verified = bench.session->verify(model);
      REQUIRE_FALSE(verified);
      CHECK(verified.error().error_class == ErrorClass::check);
      CHECK(exit_code(verified.error().error_class) == 1);
      CHECK(verified.error().where.member == info.owner);
      CHECK(verified.error().where.offset == offset);
      poke(bench, info.handle, offset, old);
    }
  }
  CHECK(bench.session->verify(model));
}

TEST_CASE(
    "a copy that moved half is a failure when the driver says so, and found when it does not") {
  Bench count(2);
  const std::uint64_t before = count.script->calls;
  load(count, "conv-like-v2");
  const std::uint64_t calls = count.script->calls - before;
  std::size_t silent = 0;
  for (const int answer : {64, 0}) {
    for (std::uint64_t call = 1; call <= calls; ++call) {
      Bench bench(2);
      bench.script->half_copy = true;
      bench.script->answer = answer;
      // An allocation cannot be half done: only copies answer 0 without their whole effect here.
      bench.script->fail_at = bench.script->calls + call;
      const auto model = bench.session->load(parsed("conv-like-v2"));
      bench.script->fail_at = 0;
      if (bench.script->failed_command != NEURON_IOCTL_MEM_BUF_COPY64) continue;
      INFO("call " << call << " of " << calls << " answers " << answer);
      if (answer != 0) {
        REQUIRE_FALSE(model);
        CHECK(model.error().error_class == ErrorClass::device);
        CHECK(bench.held().first == 0);
        continue;
      }
      REQUIRE(model);
      const auto verified = bench.session->verify(**model);
      if (!verified) {
        ++silent;
        CHECK(verified.error().error_class == ErrorClass::check);
      }
    }
  }
  CHECK(silent > 10);  // all but those whose second half is zeros anyway
}
