// SPDX-License-Identifier: MIT
// Giving inputs and outputs device addresses (decision 21).
#include <catch2/catch.hpp>

#include "devices.hpp"
#include "queues.hpp"

using namespace neffld;
using namespace neffld::test;

TEST_CASE("after bind every queue holds its ring: base, length and descriptors") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    Bench bench(architecture_of(name));
    LoadedModel& model = load(bench, name);
    const auto bound = bench.session->bind(model, io_addresses(model.parsed));
    if (!bound) FAIL(to_sentence(bound.error()));
    CHECK(model.bound);
    std::map<std::uint32_t, std::vector<std::uint8_t>> sections;
    const SectionSink keep = [&](const SectionContent& content) -> Result<void> {
      sections[content.request].assign(content.bytes.begin(), content.bytes.end());
      return {};
    };
    Ledger ledger;
    REQUIRE(relocate(model.parsed.kbins, model.plan, model.addresses, ledger, keep));
    REQUIRE(relocate_bound(model.parsed.kbins, model.plan, model.addresses, ledger, keep));
    for_each_half(model, [&](const Half& half) {
      INFO(model.plan.requests[half.request].owner << " of core " << half.kbin.core);
      const neuron_dma_queue_state state = queue_state(bench, half);
      CHECK(state.base_addr == model.addresses.sections[half.request]);
      CHECK(state.length == half.ring.allocated);
      CHECK(state.head_pointer == 0);
      CHECK(state.tail_pointer == 0);
      std::vector<std::uint8_t> expected = sections.at(half.request);
      REQUIRE(expected.size() >= std::size_t{half.ring.used} * 16);
      expected.resize(std::size_t{half.ring.used} * 16);
      CHECK(copy_out(bench, half) == expected);
    });
  }
}

TEST_CASE("template rings are allocated by bind, after everything else") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  const auto loaded = model.allocations.size();
  const auto held = bench.held();
  REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
  CHECK(model.allocations.size() == loaded + 64);  // 2 queue sets, 16 rings, 2 halves
  CHECK(bench.held().first == held.first + 64);
  CHECK(model.allocations[loaded].owner == "ring qPoolIO0.0.0 tx");
  CHECK(model.allocations[loaded + 1].owner == "ring qPoolIO0.0.0 rx");
  CHECK(model.allocations.back().owner == "ring qSPIO0.0.15 rx");
  REQUIRE(bench.session->unload(model));
  CHECK(bench.held().first == 0);
  CHECK(bench.held().second == 0);
}

TEST_CASE("bind needs every input and output by name") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  const auto held = bench.held();
  for (const char* name : {"left", "right", "sum"}) {
    IoMap io = io_addresses(model.parsed);
    io.erase(name);
    const auto bound = bench.session->bind(model, io);
    REQUIRE_FALSE(bound);
    CHECK(to_sentence(bound.error()).find(name) != std::string::npos);
    CHECK_FALSE(model.bound);
    CHECK(bench.held() == held);
  }
  CHECK(bench.session->bind(model, io_addresses(model.parsed)));
}

TEST_CASE("bind refuses an address that does not lie in an HBM with all its bytes") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  const ArchTable& arch = arch_table(Arch::v3);
  const std::uint64_t size = model.parsed.manifest.inputs.at("left").size;
  const std::uint64_t end = arch.hbm_base[0] + arch.hbm_size;
  for (const std::uint64_t address :
       {end - size + 1, end - 1, end, arch.tpb_base[0], ~std::uint64_t{0}, ~std::uint64_t{0} - size,
        ~std::uint64_t{0} - size + 1, std::uint64_t{1} << 63}) {
    IoMap io = io_addresses(model.parsed);
    io["left"] = address;
    INFO(std::hex << address);
    const auto bound = bench.session->bind(model, io);
    REQUIRE_FALSE(bound);
    CHECK(bound.error().error_class == ErrorClass::usage);
    CHECK(to_sentence(bound.error()).find("left") != std::string::npos);
  }
  IoMap io = io_addresses(model.parsed);
  io["left"] = end - size;
  CHECK(bench.session->bind(model, io));
}

TEST_CASE("bind fills pointers and tables that name inputs or outputs") {
  Bench bench;
  LoadedModel& model = load(bench, "pointers-v3");
  const auto unbound = bench.session->verify(model);
  REQUIRE(unbound);
  REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
  const auto bound = bench.session->verify(model);
  if (!bound) FAIL(to_sentence(bound.error()));
  CHECK(*bound > *unbound);
}

TEST_CASE("an address on memory of the loader's own is refused") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  IoMap io = io_addresses(model.parsed);
  io.begin()->second = model.allocations.front().pa + 64;
  const auto refused = bench.session->bind(model, io);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error_class == ErrorClass::usage);
  CHECK(refused.error().text.find(model.allocations.front().owner) != std::string::npos);
  CHECK(bench.session->bind(model, io_addresses(model.parsed)));
}

TEST_CASE("a model that was only staged cannot be bound") {
  Bench bench;
  LoadOptions options;
  options.until = Stage::stage;
  LoadedModel& model = load(bench, "vecadd-v3", options);
  const std::uint64_t calls = bench.script->calls;
  REQUIRE_FALSE(bench.session->bind(model, io_addresses(model.parsed)));
  CHECK(bench.script->calls == calls);
}

TEST_CASE("a bind on cores nobody owns any more programs all queues and claims the cores") {
  Bench bench;
  LoadedModel& owner = load(bench, "cast-v3");
  LoadedModel& model = load(bench, "many-queues-v3");
  REQUIRE_FALSE(model.queues_initialised);
  REQUIRE(bench.session->unload(owner));
  REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
  CHECK(model.queues_initialised);
  for_each_half(model, [&](const Half& half) {
    CHECK(queue_state(bench, half).base_addr == model.addresses.sections[half.request]);
  });
  CHECK_FALSE(load(bench, "cast-v3").queues_initialised);
}

TEST_CASE("a bind leaves the queues of another owner alone") {
  Bench bench;
  LoadedModel& owner = load(bench, "vecadd-v3");
  LoadedModel& model = load(bench, "many-queues-v3");
  REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
  CHECK_FALSE(model.queues_initialised);
  REQUIRE(bench.session->bind(owner, io_addresses(owner.parsed, 0x200000000)));
  for_each_half(owner, [&](const Half& half) {
    CHECK(queue_state(bench, half).base_addr == owner.addresses.sections[half.request]);
  });
}
