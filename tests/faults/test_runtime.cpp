// SPDX-License-Identifier: MIT
// Host memory that runs out anywhere in nrt_load(): a status, no exception, no leak, and the next
// load works. Unlike the sweep of operator new in tests/nrt/faults, also in C libraries and the
// device.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "bench.hpp"
#include "error_ring.hpp"
#include "host_memory.hpp"

using namespace neffld::test;

namespace {

constexpr std::uint64_t points = 120;  // of each model
constexpr std::uint64_t no_failure = ~std::uint64_t{0};

struct Attempt {
  NRT_STATUS status = NRT_SUCCESS;
  std::uint64_t seen = 0;
  bool struck = false, in_device = false;
};

/// Loads with one failing allocation, and unloads.
Attempt attempt(Bench& bench, const std::vector<std::uint8_t>& file, std::uint64_t nth) {
  Attempt result;
  nrt_model_t* model = nullptr;
  {
    const FailingMemory failing(nth);
    result.status = nrt_load(file.data(), file.size(), 0, -1, &model);
    result.seen = failing.seen();
    result.struck = failing.struck();
    result.in_device = failing.struck_in_device();
  }
  REQUIRE((model != nullptr) == (result.status == NRT_SUCCESS));
  if (model != nullptr) REQUIRE(nrt_unload(model) == NRT_SUCCESS);
  REQUIRE(bench.live_handles() == 0);
  return result;
}

/// Messages the runtime keeps for a dump, each a block of memory. A message may have several lines,
/// of which only the first begins with the time.
std::int64_t messages_kept() {
  std::istringstream text(neffld::nrt::ErrorRing::get().text());
  std::int64_t count = 0;
  for (std::string line; std::getline(text, line);) {
    count += line.starts_with("20") && line.find(" ERROR ") != std::string::npos;
  }
  return count;
}

/// One failing load and a good one behind it.
struct Pair {
  Attempt failed, next;
  std::int64_t blocks = 0;  ///< that stay, without those of kept messages
  std::int64_t mapped = 0;  ///< bytes of mappings that stay
};

Pair pair_of(Bench& bench, const std::vector<std::uint8_t>& file, std::uint64_t nth) {
  Pair pair;
  const std::int64_t messages = messages_kept();
  const HostMemory before = host_memory();
  pair.failed = attempt(bench, file, nth);
  pair.next = attempt(bench, file, no_failure);
  const HostMemory after = host_memory();
  pair.blocks =
      static_cast<std::int64_t>(after.blocks - before.blocks) - (messages_kept() - messages);
  pair.mapped = static_cast<std::int64_t>(after.mapped - before.mapped);
  return pair;
}

void sweep(const std::string& name, std::uint64_t most) {
  Bench bench({.architecture = name.ends_with("-v2") ? 2u : 3u});
  const auto& file = neff(name);
  // What the runtime makes when it needs it first is not a leak.
  for (int i = 0; i < 2; ++i) pair_of(bench, file, 1);
  const std::uint64_t all = attempt(bench, file, no_failure).seen;
  REQUIRE(all > 500);
  const std::uint64_t stride = std::max<std::uint64_t>(1, all / most) | 1;
  std::uint64_t tried = 0, in_vain = 0;
  for (std::uint64_t nth = 1; nth <= all; nth += stride) {
    Pair pair = pair_of(bench, file, nth);
    // What is made on first use stays, and the deque of kept messages takes a block now and then: a
    // leak is what every time leaves.
    for (int again = 0; pair.blocks != 0 && again < 3; ++again) pair = pair_of(bench, file, nth);
    const NRT_STATUS status = pair.failed.status;
    const bool fits = status == NRT_RESOURCE || status == NRT_SUCCESS ||
                      (pair.failed.in_device && status == NRT_FAILURE);
    INFO(name << ", allocation " << nth << " of " << all
              << (pair.failed.in_device ? ", the device's" : ""));
    CHECK(fits);
    CHECK(pair.next.status == NRT_SUCCESS);
    CHECK(pair.blocks == 0);
    CHECK(pair.mapped == 0);
    ++tried;
    in_vain += pair.failed.struck && status == NRT_SUCCESS;
  }
  CHECK(in_vain * 5 < tried);  // what costs a line of the log or a sort its spare buffer
  bench.check_clean(file);
}

}  // namespace

TEST_CASE("any failing host allocation of nrt_load is a status without a leak") {
  if (!host_memory_is_watched()) {
    WARN("SKIPPED: a sanitizer owns malloc() in this build");
    return;
  }
  for (const char* name : {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3", "pointers-v3"}) {
    sweep(name, points);
  }
}

TEST_CASE("every single failing host allocation of nrt_load", "[.][long]") {
  for (const char* name : {"vecadd-v3", "conv-like-v2", "dge-lnc2-v3", "pointers-v3"}) {
    sweep(name, no_failure);
  }
}
