// SPDX-License-Identifier: MIT
// Addresses depend on the calls and on nothing else (design rule 7, decision 20).
#include <catch2/catch.hpp>
#include <thread>

#include "devices.hpp"

using namespace neffld;
using namespace neffld::test;

TEST_CASE("a load on a fresh device gives the same addresses every time") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    std::vector<std::pair<std::string, std::uint64_t>> first;
    for (int run = 0; run < 2; ++run) {
      Bench bench(architecture_of(name));
      LoadedModel& model = load(bench, name);
      REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
      if (run == 0) first = layout(model);
      CHECK(layout(model) == first);
    }
  }
}

namespace {

/// Allocations of all resident models by address; the test fails where two share a byte.
std::map<std::uint64_t, AllocationInfo> audited(const Bench& bench) {
  std::map<std::uint64_t, AllocationInfo> by_address;
  for (const auto& model : bench.session->models()) {
    for (const AllocationInfo& info : model->allocations) {
      CHECK(by_address.emplace(info.pa, info).second);
    }
  }
  std::uint64_t end = 0;
  for (const auto& [pa, info] : by_address) {
    INFO(info.owner);
    CHECK(pa >= end);
    end = pa + info.size;
  }
  return by_address;
}

/// True when [address, address + size) lies in allocations whose owner starts with `owner`, each
/// right behind the one before.
bool lies_in(const std::map<std::uint64_t, AllocationInfo>& memory, std::uint64_t address,
             std::uint64_t size, const std::string& owner) {
  auto at = memory.upper_bound(address);
  if (at == memory.begin()) return false;
  --at;
  std::uint64_t next = at->first;
  for (; at != memory.end() && at->first == next && at->second.owner.starts_with(owner); ++at) {
    next = at->first + at->second.size;
    if (address < next && size <= next - address) return true;
  }
  return false;
}

/// Variables of `virtual` type that lie neither in pages of the scratchpad nor in memory of their
/// own. In paged mode one page has to hold a variable.
std::vector<std::string> lost_variables(const LoadedModel& model,
                                        const std::map<std::uint64_t, AllocationInfo>& memory) {
  std::vector<std::string> lost;
  const bool contiguous = model.plan.scratchpad.contiguous;
  for (std::size_t k = 0; k < model.parsed.kbins.size(); ++k) {
    const Kbin& kbin = model.parsed.kbins[k];
    for (const Variable& variable : kbin.variables) {
      if (variable.kind != VarKind::virtual_buf) continue;
      const auto address =
          variable_address(kbin, model.plan.kbins[k], model.addresses, variable.var_id);
      REQUIRE(address);
      bool held = lies_in(memory, *address, variable.size, "variable " + variable.name);
      if (contiguous) {
        held |= lies_in(memory, *address, variable.size, "scratchpad page");
      } else {
        const auto behind = memory.upper_bound(*address);
        held |= behind != memory.begin() &&
                lies_in({*std::prev(behind)}, *address, variable.size, "scratchpad page");
      }
      if (!held) lost.push_back(variable.name);
    }
  }
  return lost;
}

}  // namespace

// Spec 03 R14.
TEST_CASE("no two live allocations overlap, and virtual variables lie in their pages") {
  for (const bool contiguous : {false, true}) {
    for (const std::uint32_t architecture : {2u, 3u}) {
      // Every model of the architecture, one after the other on the same core.
      Bench bench(architecture);
      LoadOptions options;
      options.scratchpad.contiguous = contiguous;
      for (const std::string& name : loadable_samples()) {
        if (architecture_of(name) != architecture) continue;
        INFO(name << (contiguous ? " contiguous" : " paged"));
        LoadedModel& model = load(bench, name, options);
        IoMap io;
        std::uint64_t address = 0x3'0000'0000;  // HBM 0, in nobody's way
        for (const auto& [tensor, ignored] : io_addresses(model.parsed)) {
          io[tensor] = address;
          address += 64 << 20;
        }
        REQUIRE(bench.session->bind(model, io));
        CHECK(lost_variables(model, audited(bench)).empty());
      }
    }
  }
}

TEST_CASE("1000 loads and unloads use the same addresses and leave nothing behind") {
  Bench bench;
  const auto held = bench.held();
  std::vector<std::pair<std::string, std::uint64_t>> first;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    LoadedModel& model = load(bench, "empty-v3");
    if (cycle == 0) first = layout(model);
    REQUIRE(layout(model) == first);
    REQUIRE(bench.session->unload(model));
    REQUIRE(bench.held() == held);
  }
}

TEST_CASE("cycles with bind leave nothing behind either") {
  Bench bench;
  const auto held = bench.held();
  std::vector<std::pair<std::string, std::uint64_t>> first;
  for (int cycle = 0; cycle < 50; ++cycle) {
    LoadedModel& model = load(bench, "vecadd-v3");
    REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
    if (cycle == 0) first = layout(model);
    REQUIRE(layout(model) == first);
    REQUIRE(bench.session->unload(model));
    REQUIRE(bench.held() == held);
  }
}

TEST_CASE("a session that ends with models on it returns their memory") {
  Bench bench;
  load(bench, "vecadd-v3");
  LoadedModel& second = load(bench, "cast-v3");
  REQUIRE(bench.session->bind(second, io_addresses(second.parsed)));
  CHECK(bench.held().first > 0);
  bench.session.reset();
  CHECK(bench.held().first == 0);
  CHECK(bench.held().second == 0);
}

TEST_CASE("threads that load at once on devices of their own get the addresses one thread gets") {
  const std::vector<std::string> names = {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3",
                                          "pointers-v3"};
  std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> expected;
  for (const std::string& name : names) {
    Bench bench(architecture_of(name));
    expected[name] = layout(load(bench, name));
  }
  constexpr std::size_t thread_count = 8;
  // Catch2's assertions are not for several threads: they collect, the main thread checks.
  std::vector<int> differences(thread_count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t turn = 0; turn < 6; ++turn) {
        const std::string& name = names[(i + turn) % names.size()];
        auto device = SimDevice::create({.architecture = architecture_of(name)});
        auto file = device ? (*device)->open() : tl::unexpected<Error>(device.error());
        auto session = file ? Session::open(std::move(*file)) : tl::unexpected<Error>(file.error());
        auto parsed_model = parse_model(sample_bytes(name), Arch::any);
        if (!session || !parsed_model) {
          ++differences[i];
          continue;
        }
        auto model = (*session)->load(std::move(*parsed_model));
        if (!model || layout(**model) != expected.at(name) || !(*session)->verify(**model)) {
          ++differences[i];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < thread_count; ++i) CHECK(differences[i] == 0);
}
