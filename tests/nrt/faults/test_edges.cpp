// SPDX-License-Identifier: MIT
// Every edge on which a load through the C API can fail: the status, no live handle on the device,
// the cores free, the next load works (issue "libnrt.so.1", seed page "Error and cleanup paths").
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench.hpp"
#include "log.hpp"
#include "neuron_abi/ioctl.h"
#include "new_failure.hpp"
#include "runtime.hpp"
#include "thread_limit.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr const char* good = "vecadd-v3";

/// Loading `file` fails with `expected` and leaves nothing.
void refuses(const std::vector<std::uint8_t>& file, NRT_STATUS expected,
             const BenchOptions& options = {}, const char* next = nullptr) {
  Bench bench(options);
  NRT_STATUS status = NRT_SUCCESS;
  CHECK(bench.load(file, status) == nullptr);
  CHECK(status == expected);
  CHECK(bench.live_handles() == 0);
  if (next == nullptr) next = options.architecture == 2 ? "vecadd-v2" : good;
  bench.check_clean(neff(next));
}

/// A small model of `count` subgraphs that all do the same.
std::vector<std::uint8_t> wide_model(std::uint32_t count) {
  sample::ScaleParameters wide;
  wide.subgraphs = count;
  wide.weights_bytes = 1 << 14;
  wide.slots = 64;
  wide.elements = 256;
  return packed(sample::make_scale_sample(wide));
}

bool mentions(const std::vector<std::string>& frames, std::string_view name) {
  return std::any_of(frames.begin(), frames.end(), [&](const std::string& frame) {
    return frame.find(name) != std::string::npos;
  });
}

/// The first allocation below `function` fails; the load ends with NRT_RESOURCE.
void fails_without_memory(const std::string& function, const std::function<void()>& on_strike = {},
                          std::uint64_t nth = 1) {
  Bench bench;
  NRT_STATUS status = NRT_SUCCESS;
  {
    const FailingNew failing({nth, function, on_strike});
    bench.load(neff(good), status);
    REQUIRE(failing.struck());
  }
  CHECK(status == NRT_RESOURCE);
  CHECK(bench.live_handles() == 0);
  bench.check_clean(neff(good));
}

}  // namespace

TEST_CASE("edge: header") {
  std::vector<std::uint8_t> file = neff(good);
  file[24] = 3;  // major version
  refuses(file, NRT_UNSUPPORTED_NEFF_VERSION);
  refuses({file.begin(), file.begin() + 1023}, NRT_INVALID);
}

TEST_CASE("edge: core claim, and what is read behind it") {
  Bench bench;
  NRT_STATUS status = NRT_SUCCESS;
  CHECK(bench.load(neff(good), status, 4) == nullptr);
  CHECK(status == NRT_INVALID);
  bench.check_clean(neff(good));
  setenv("NEURON_SCRATCHPAD_PAGE_SIZE", "7", 1);
  CHECK(bench.load(neff(good), status) == nullptr);
  unsetenv("NEURON_SCRATCHPAD_PAGE_SIZE");
  CHECK(status == NRT_INVALID);
  bench.check_clean(neff(good));
}

TEST_CASE("edge: parse in the creator releases every waiter, and the slot is empty again") {
  constexpr unsigned waiters = 7;
  Bench bench;
  ParseCache& cache = nrt::Runtime::get().parse_cache;
  std::atomic<bool> creator_parses = false;
  std::atomic<unsigned> good_loads = 0;
  NRT_STATUS status = NRT_SUCCESS;
  {
    const FailingNew failing({1, "neffld::parse_container", [&] {
                                creator_parses = true;
                                while (cache.waiting() < waiters) std::this_thread::yield();
                              }});
    std::vector<std::thread> others;
    for (unsigned i = 0; i < waiters; ++i) {
      others.emplace_back([&] {
        while (!creator_parses) std::this_thread::yield();
        nrt_model_t* model = nullptr;
        if (nrt_load(neff(good).data(), neff(good).size(), 0, -1, &model) != NRT_SUCCESS) return;
        if (nrt_unload(model) == NRT_SUCCESS) ++good_loads;
      });
    }
    bench.load(neff(good), status);
    for (std::thread& other : others) other.join();
    CHECK(failing.struck());
  }
  CHECK(status == NRT_RESOURCE);
  CHECK(good_loads == waiters);
  CHECK(cache.counts().roles[static_cast<std::size_t>(ParseCache::Role::after_failure)] >= waiters);
  CHECK(bench.live_handles() == 0);
  bench.check_clean(neff(good));
}

TEST_CASE("loads of one file that overlap parse it once") {
  constexpr unsigned others = 15;
  const std::string log =
      (std::filesystem::temp_directory_path() / ("nrt-parse-" + std::to_string(getpid()))).string();
  unsigned loaded = 0;
  {
    // The creator has its parse and waits, at its first allocation on the device, until everybody
    // else has come for one.
    std::atomic<bool> creator_stages = false;
    std::function<void()> hold;
    Bench bench({.plan = {{.kind = Fault::Kind::after,
                           .command = NEURON_IOCTL_MEM_ALLOC_V2MT64,
                           .answer = 0}},
                 .on_strike = [&] { hold(); }});
    setenv("NEURON_RT_LOG_LEVEL", "DEBUG", 1);
    setenv("NEURON_RT_LOG_LOCATION", log.c_str(), 1);
    nrt::configure_log();
    ParseCache& cache = nrt::Runtime::get().parse_cache;
    const ParseCache::Counts before = cache.counts();
    const auto counted = [&](ParseCache::Role role) {
      const auto at = static_cast<std::size_t>(role);
      return cache.counts().roles[at] - before.roles[at];
    };
    hold = [&] {
      creator_stages = true;
      while (counted(ParseCache::Role::reuse) < others) std::this_thread::yield();
    };
    std::atomic<unsigned> good_loads = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < others; ++i) {
      threads.emplace_back([&] {
        while (!creator_stages) std::this_thread::yield();
        nrt_model_t* model = nullptr;
        if (nrt_load(neff(good).data(), neff(good).size(), -1, -1, &model) != NRT_SUCCESS) return;
        if (nrt_unload(model) == NRT_SUCCESS) ++good_loads;
      });
    }
    bench.load_and_unload(neff(good));
    for (std::thread& thread : threads) thread.join();
    loaded = good_loads;
    CHECK(counted(ParseCache::Role::creator) == 1);
    CHECK(counted(ParseCache::Role::independent) == 0);
    CHECK(cache.empty());
    setenv("NEURON_RT_LOG_LEVEL", "QUIET", 1);
    unsetenv("NEURON_RT_LOG_LOCATION");
    nrt::configure_log();
  }
  CHECK(loaded == others);
  std::ifstream file(log);
  unsigned created = 0, used = 0;
  for (std::string line; std::getline(file, line);) {
    created += line.ends_with("first worker, creating cache") ? 1 : 0;
    used += line.ends_with("using cache") ? 1 : 0;
  }
  std::filesystem::remove(log);
  CHECK(created == 1);
  CHECK(used == others);
}

TEST_CASE("edge: a container that is damaged") {
  std::vector<std::uint8_t> file = neff(good);
  std::fill(file.begin() + 1024, file.end(), std::uint8_t{0x5A});
  refuses(file, NRT_INVALID);
}

TEST_CASE("edge: neff.json") {
  refuses(with_member(good, "neff.json", "{"), NRT_INVALID);
  refuses(with_member(good, "neff.json", "{}"), NRT_INVALID);
}

TEST_CASE("edge: KELF") {
  refuses(with_member(good, "kelf-0.json", R"({"version": "1.0", "graphs": 7})"), NRT_INVALID);
  refuses(with_member(good, "sg00/def.json", "[]"), NRT_INVALID);
}

TEST_CASE("edge: architecture") {
  refuses(neff("vecadd-v2"), NRT_INVALID);
  refuses(neff(good), NRT_INVALID, {.architecture = 2});
}

TEST_CASE("edge: too few cores") {
  refuses(wide_model(4), NRT_INVALID);
  // Without the feature bit the header's size does not count, and the plan finds it.
  sample::SampleNeff wide = sample::make_sample("dge-lnc2-v3");
  wide.options.feature_bits = 0;
  refuses(packed(wide), NRT_INVALID, {.logical_core_size = 1}, "single-core-v3");
}

TEST_CASE("edge: plan") {
  refuses(neff("refused-v3"), NRT_INVALID);
  fails_without_memory("neffld::plan_model");
}

TEST_CASE("edge: the record of the load") {
  fails_without_memory("neffld::ParseCache::acquire");
}

TEST_CASE("edge: bridge allocation") {
  // What the session allocates before the plan is the device-side record.
  fails_without_memory("neffld::Session::State::load");
}

TEST_CASE("edge: registry insert") {
  Bench* running = nullptr;
  std::uint64_t handles = 0;
  Bench bench;
  running = &bench;
  NRT_STATUS status = NRT_SUCCESS;
  {
    const FailingNew failing(
        {1, "neffld::ModelRegistry::insert", [&] { handles = running->live_handles(); }});
    bench.load(neff(good), status);
    REQUIRE(failing.struck());
  }
  CHECK(status == NRT_RESOURCE);
  CHECK(handles > 0);  // it was staged, and was taken back
  CHECK(bench.live_handles() == 0);
  bench.check_clean(neff(good));
}

TEST_CASE("edge: public handle allocation does not leave the registered model behind") {
  Bench bench;
  bench.load_and_unload(neff(good));
  std::uint64_t all = 0;
  {
    const FailingNew counter({~std::uint64_t{0}, "", {}});
    NRT_STATUS status = NRT_FAILURE;
    nrt_model_t* model = bench.load(neff(good), status);
    all = counter.seen();
    REQUIRE(nrt_unload(model) == NRT_SUCCESS);
  }
  // The handle is among the last allocations of a load; the model is registered by then.
  unsigned behind = 0;
  for (std::uint64_t nth = all; nth > 0 && nth + 40 > all; --nth) {
    CallStack stack;
    bool registered = false;
    NRT_STATUS status = NRT_SUCCESS;
    {
      const FailingNew failing({nth, "", [&] {
                                  stack.take();
                                  const auto frames = stack.names();
                                  if (mentions(frames, "neffld::ModelRegistry")) return;
                                  registered = !nrt::Runtime::get().registry.ids().empty();
                                }});
      nrt_model_t* model = bench.load(neff(good), status);
      if (status == NRT_SUCCESS) {  // it did without, or the siblings' threads made fewer
        CHECK(nrt_unload(model) == NRT_SUCCESS);
        continue;
      }
      REQUIRE(failing.struck());
    }
    INFO("allocation " << nth << " of " << all);
    CHECK(status == NRT_RESOURCE);
    CHECK(bench.live_handles() == 0);
    CHECK(nrt::Runtime::get().registry.ids().empty());
    if (registered) ++behind;
  }
  CHECK(behind >= 2);
  bench.check_clean(neff(good));
}

TEST_CASE("edge: a thread of the fan-out that cannot be started") {
  const auto wide = wide_model(8);
  for (const unsigned nth : {1U, 2U, 5U, 8U}) {
    Bench bench({.logical_core_size = 8});
    NRT_STATUS status = NRT_SUCCESS;
    fail_thread(nth);
    CHECK(bench.load(wide, status) == nullptr);
    CHECK(started_threads() == nth - 1);
    fail_thread(0);
    CHECK(status == NRT_RESOURCE);
    CHECK(bench.live_handles() == 0);
    bench.check_clean(wide);
  }
}

TEST_CASE("edge: unstage reports the first failure, ends the handle and is made good") {
  const auto frees = [] {
    Bench bench;
    NRT_STATUS status = NRT_FAILURE;
    bench.load(neff(good), status);
    return bench.live_handles();
  }();
  REQUIRE(frees > 10);
  for (std::uint64_t nth = 1; nth <= frees; ++nth) {
    const int answer = nth % 2 == 0 ? -EBUSY : -EINVAL;
    Bench bench({.plan = {{.nth = nth, .command = NEURON_IOCTL_MEM_FREE, .answer = answer}}});
    NRT_STATUS status = NRT_FAILURE;
    nrt_model_t* model = bench.load(neff(good), status);
    REQUIRE(status == NRT_SUCCESS);
    CHECK(nrt_unload(model) == NRT_FAILURE);
    CHECK(bench.faults().struck.size() == 1);
    CHECK(nrt_unload(model) == NRT_INVALID_HANDLE);
    CHECK(bench.live_handles() == 1);  // the one that was not freed
    // What was busy is freed by the next load; a handle the driver does not know stays its own
    // until the device is closed, which the end of the bench checks.
    bench.load_and_unload(neff(good));
    CHECK(bench.live_handles() == (answer == -EBUSY ? 0 : 1));
  }
}

TEST_CASE("logical cores of 2, 4 and 8: a thread a subgraph, the same addresses each time") {
  for (const std::uint32_t size : {2U, 4U, 8U}) {
    const auto wide = wide_model(size);
    std::vector<std::uint64_t> first;
    for (int round = 0; round < 5; ++round) {
      Bench bench({.logical_core_size = size});
      std::uint32_t cores = 0;
      REQUIRE(nrt_get_visible_vnc_count(&cores) == NRT_SUCCESS);
      CHECK(cores == 8 / size);
      NRT_STATUS status = NRT_FAILURE;
      fail_thread(0);
      nrt_model_t* model = bench.load(wide, status, static_cast<int>(cores) - 1);
      REQUIRE(status == NRT_SUCCESS);
      CHECK(started_threads() == size);
      const ModelRegistry& registry = nrt::Runtime::get().registry;
      std::vector<std::uint64_t> addresses;
      {
        const auto record = registry.acquire(registry.ids().at(0));
        addresses = record->bridge.loaded->addresses.sections;
      }
      if (round == 0) first = addresses;
      CHECK(addresses == first);
      CHECK(nrt_unload(model) == NRT_SUCCESS);
      CHECK(bench.live_handles() == 0);
    }
    CHECK(first.size() > 10 * size);
  }
}
