// SPDX-License-Identifier: MIT
// The fan-out routine against a stub builder, with as many subgraphs as it takes (decision 41).
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "fan_out.hpp"
#include "thread_limit.hpp"

using namespace neffld;
using neffld::test::fail_thread;
using neffld::test::started_threads;

namespace {

/// Counts what is built and taken back; the subgraphs in `broken` fail.
struct Stub {
  std::array<std::atomic<int>, most_subgraphs> built{};
  std::vector<std::uint32_t> undone;
  std::set<std::uint32_t> broken;

  Result<void> run(std::uint32_t count, bool one_thread = false) {
    return fan_out(
        count,
        [this](std::uint32_t i) -> Result<void> {
          if (broken.contains(i)) return invalid({}, "subgraph " + std::to_string(i));
          ++built.at(i);
          return {};
        },
        [this](std::uint32_t i) {
          --built.at(i);
          undone.push_back(i);
        },
        one_thread);
  }
  int live() const {
    int sum = 0;
    for (const auto& one : built) sum += one;
    return sum;
  }
};

}  // namespace

TEST_CASE("256 subgraphs are built at the same time, each in a thread of its own") {
  std::barrier all(most_subgraphs);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto done = fan_out(
      most_subgraphs,
      [&](std::uint32_t) -> Result<void> {
        all.arrive_and_wait();  // ends only if every one of them runs
        const std::scoped_lock lock(mutex);
        threads.insert(std::this_thread::get_id());
        return {};
      },
      [](std::uint32_t) { FAIL("nothing failed"); });
  REQUIRE(done);
  CHECK(threads.size() == most_subgraphs);
  CHECK_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("257 subgraphs are refused and nothing is built") {
  Stub stub;
  const auto done = stub.run(most_subgraphs + 1);
  REQUIRE_FALSE(done);
  CHECK(done.error().status == Status::invalid);
  CHECK(stub.live() == 0);
}

TEST_CASE("one subgraph needs no thread") {
  Stub stub;
  fail_thread(1);
  REQUIRE(stub.run(1));
  CHECK(started_threads() == 0);
  fail_thread(0);
  CHECK(stub.built[0] == 1);
}

TEST_CASE("any failing sibling takes back all others, last one first") {
  for (const std::set<std::uint32_t>& broken :
       {std::set<std::uint32_t>{0}, {255}, {100, 101}, {17, 3, 250}}) {
    for (const bool one_thread : {false, true}) {
      Stub stub;
      stub.broken = broken;
      const auto done = stub.run(most_subgraphs, one_thread);
      REQUIRE_FALSE(done);
      CHECK(done.error().text == "subgraph " + std::to_string(*broken.begin()));
      CHECK(stub.live() == 0);
      CHECK(std::is_sorted(stub.undone.rbegin(), stub.undone.rend()));
      CHECK(stub.undone.size() == (one_thread ? *broken.begin() : most_subgraphs - broken.size()));
    }
  }
}

TEST_CASE("a thread that cannot be started: the started ones are joined and taken back") {
  for (const unsigned nth : {1U, 2U, 129U, 256U}) {
    Stub stub;
    fail_thread(nth);
    const auto done = stub.run(most_subgraphs);
    REQUIRE_FALSE(done);
    CHECK(started_threads() == nth - 1);
    CHECK(done.error().status == Status::resource);
    CHECK(done.error().text.find("thread " + std::to_string(nth) + " of 256") != std::string::npos);
    CHECK(stub.live() == 0);
    CHECK(stub.undone.size() == nth - 1);
  }
  Stub stub;
  CHECK(stub.run(most_subgraphs));
  CHECK(stub.live() == 256);
}

TEST_CASE("a build that throws is a failed one") {
  int undone = 0;
  const auto done = fan_out(
      8,
      [](std::uint32_t i) -> Result<void> {
        if (i == 5) throw std::bad_alloc();
        return {};
      },
      [&](std::uint32_t) { ++undone; });
  REQUIRE_FALSE(done);
  CHECK(done.error().error_class == ErrorClass::resource);
  CHECK(undone == 7);
}
