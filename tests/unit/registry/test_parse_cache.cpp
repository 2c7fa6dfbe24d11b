// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "parse_cache.hpp"
#include "sample_catalogue.hpp"

using namespace neffld;
using Role = ParseCache::Role;

namespace {

ParseKey key_of(std::uint8_t uuid, std::uint64_t checksum = 1) {
  ParseKey key;
  key.uuid.fill(uuid);
  key.checksum = checksum;
  return key;
}

Result<ParsedModel> parsed() {
  ParsedModel model;
  model.manifest.target = "made";
  return model;
}

Result<ParsedModel> broken() {
  return invalid({}, "broken on purpose");
}

/// A parse that begins, tells so, and ends when it may.
class HeldParse {
 public:
  explicit HeldParse(bool good) : good_(good) {}
  Result<ParsedModel> operator()() {
    std::unique_lock lock(mutex_);
    begun_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return may_end_; });
    return good_ ? parsed() : broken();
  }
  void wait_for_begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_; });
  }
  void let_end() {
    const std::scoped_lock lock(mutex_);
    may_end_ = true;
    changed_.notify_all();
  }

 private:
  bool good_, begun_ = false, may_end_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
};

std::uint64_t count(const ParseCache& cache, Role role) {
  return cache.counts().roles[static_cast<std::size_t>(role)];
}

}  // namespace

TEST_CASE("The first load fills the slot, an overlapping one reuses it, the last empties it") {
  ParseCache cache;
  {
    const auto first = cache.acquire(key_of(1), parsed);
    REQUIRE(first);
    CHECK(first->role() == Role::creator);
    const auto second = cache.acquire(key_of(1), broken);
    REQUIRE(second);
    CHECK(second->role() == Role::reuse);
    CHECK(&second->model() == &first->model());
    CHECK_FALSE(cache.empty());
  }
  CHECK(cache.empty());
  const auto later = cache.acquire(key_of(1), parsed);
  REQUIRE(later);
  CHECK(later->role() == Role::creator);
}

TEST_CASE("The slot outlives its creator while somebody reuses it") {
  ParseCache cache;
  auto first = std::make_unique<Result<ParseCache::Lease>>(cache.acquire(key_of(1), parsed));
  const auto second = cache.acquire(key_of(1), broken);
  first.reset();
  const auto third = cache.acquire(key_of(1), broken);
  REQUIRE(third);
  CHECK(third->role() == Role::reuse);
  CHECK(third->model().manifest.target == "made");
}

TEST_CASE("Another uuid, another content under one uuid and a zero uuid parse on their own") {
  ParseCache cache;
  const auto first = cache.acquire(key_of(1), parsed);
  for (const ParseKey& key : {key_of(2), key_of(1, 2), key_of(0)}) {
    const auto other = cache.acquire(key, parsed);
    REQUIRE(other);
    CHECK(other->role() == Role::independent);
    CHECK(&other->model() != &first->model());
  }
  ParseKey options = key_of(1);
  options.options = 1;
  CHECK(cache.acquire(options, parsed)->role() == Role::independent);
}

TEST_CASE("A zero uuid never fills the slot") {
  ParseCache cache;
  const auto lease = cache.acquire(key_of(0), parsed);
  REQUIRE(lease);
  CHECK(lease->role() == Role::independent);
  CHECK(cache.empty());
}

TEST_CASE("A failed creator leaves an empty slot and its own error") {
  ParseCache cache;
  const auto lease = cache.acquire(key_of(1), broken);
  REQUIRE_FALSE(lease);
  CHECK(lease.error().text == "broken on purpose");
  CHECK(cache.empty());
}

TEST_CASE("A parse that throws is a failed creator") {
  ParseCache cache;
  const auto lease =
      cache.acquire(key_of(1), []() -> Result<ParsedModel> { throw std::bad_alloc(); });
  CHECK_FALSE(lease);
  CHECK(cache.empty());
}

TEST_CASE("Loads that come while the creator parses wait for one parse") {
  ParseCache cache;
  HeldParse parse(true);
  std::atomic<int> parses = 0, good = 0;
  std::atomic<bool> others_done = false;
  std::thread creator([&] {
    const auto lease = cache.acquire(key_of(1), [&] { return ++parses, parse(); });
    good += lease.has_value();
    while (!others_done) std::this_thread::yield();
  });
  parse.wait_for_begin();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      const auto lease = cache.acquire(key_of(1), [&] { return ++parses, parsed(); });
      good += lease && (lease->role() == Role::reuse_after_wait || lease->role() == Role::reuse);
    });
  }
  // Somebody else's file does not wait.
  CHECK(cache.acquire(key_of(2), parsed)->role() == Role::independent);
  parse.let_end();
  for (auto& waiter : waiters) waiter.join();
  others_done = true;
  creator.join();
  CHECK(parses == 1);
  CHECK(count(cache, Role::creator) == 1);
  CHECK(good == 9);
  CHECK(cache.empty());
}

TEST_CASE("A load that is going to wait says so, others do not") {
  static std::atomic<int> told = 0;
  const auto tell = []() noexcept { ++told; };
  ParseCache cache;
  HeldParse parse(true);
  std::atomic<int> good = 0;
  std::thread creator([&] {
    good += cache
                .acquire(
                    key_of(1), [&] { return parse(); }, tell)
                .has_value();
  });
  parse.wait_for_begin();
  CHECK(cache.acquire(key_of(2), parsed, tell)->role() == Role::independent);
  CHECK(told == 0);
  std::thread waiter([&] { good += cache.acquire(key_of(1), parsed, tell).has_value(); });
  while (told == 0) std::this_thread::yield();
  CHECK(cache.waiting() == 1);
  parse.let_end();
  waiter.join();
  creator.join();
  CHECK(good == 2);
  CHECK(told == 1);
  CHECK(cache.empty());
}

TEST_CASE("A failing creator wakes every waiter, and each parses on its own") {
  ParseCache cache;
  HeldParse parse(false);
  std::atomic<int> good = 0;
  std::atomic<bool> failed = false;
  std::thread creator(
      [&] { failed = !cache.acquire(key_of(1), [&] { return parse(); }).has_value(); });
  parse.wait_for_begin();
  std::vector<std::thread> waiters;
  std::atomic<int> started = 0;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      ++started;
      good += cache.acquire(key_of(1), parsed).has_value();
    });
  }
  while (started < 8) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  parse.let_end();
  creator.join();
  for (auto& waiter : waiters) waiter.join();
  CHECK(failed);
  CHECK(good == 8);
  CHECK(cache.empty());
}

TEST_CASE("A key tells files apart that differ in one byte") {
  auto file = sample::pack(sample::make_sample("vecadd-v3"));
  REQUIRE(file);
  const auto header = check_header(*file);
  REQUIRE(header);
  const ParseKey before = parse_key(*file, *header, 0);
  CHECK(before == parse_key(*file, *header, 0));
  CHECK_FALSE(before == parse_key(*file, *header, 1));
  file->back() ^= 1;
  CHECK_FALSE(before == parse_key(*file, *header, 0));
}

TEST_CASE("A copy of a parsed model loads after the original is gone") {
  const auto file = sample::pack(sample::make_sample("vecadd-v3"));
  REQUIRE(file);
  ParsedModel copy;
  {
    auto model = parse_model(*file, Arch::any);
    REQUIRE(model);
    copy = *model;
  }
  REQUIRE_FALSE(copy.kbins.empty());
  const auto plan = plan_parsed_model(copy, {});
  REQUIRE(plan);
  CHECK(copy.container->find("neff.json") != nullptr);
}

namespace {

/// Everything a scan of the streams puts into a plan, as one text.
std::string scanned_text(const Plan& plan) {
  std::string text;
  for (const KbinPlan& kbin : plan.kbins) {
    const DmaTotals& totals = kbin.totals;
    text += fmt::format("collectives {} dge {} {} {} warnings {}\n", kbin.collectives,
                        totals.dge_operations, totals.dge_elements, totals.dge_bytes,
                        fmt::join(kbin.warnings, "; "));
    for (const StreamPlan& stream : kbin.streams) {
      text += fmt::format("slots {} {} {} bodies {} jumps {} calls {} collective {} triggers {}\n",
                          stream.slots_in, stream.main_slots, stream.slots_out,
                          stream.bodies.size(), stream.jumps.size(), stream.calls.size(),
                          stream.first_collective, fmt::join(stream.triggers, ","));
    }
  }
  return text;
}

}  // namespace

TEST_CASE("Loads that share a parse scan its streams once, and plan as a load on its own does") {
  for (const sample::CatalogueEntry& entry : sample::catalogue()) {
    CAPTURE(entry.name);
    const auto file = sample::pack(sample::make_sample(entry.name));
    REQUIRE(file);
    auto alone = parse_model(*file, Arch::any);
    REQUIRE(alone);
    CHECK_FALSE(alone->scans);
    const auto expected = plan_parsed_model(*alone, {});

    ParseCache cache;
    const auto lease = cache.acquire(key_of(1), [&] { return parse_model(*file, Arch::any); });
    REQUIRE(lease);
    ParsedModel first = lease->model(), second = lease->model();
    REQUIRE(first.scans);
    CHECK(first.scans->find(0) == nullptr);
    REQUIRE(plan_parsed_model(first, {}).has_value() == expected.has_value());
    if (!expected) {
      CHECK(entry.name == "refused-v3");
      CHECK(second.scans->find(0) == nullptr);
      continue;
    }
    const auto kept = second.scans->find(0);
    REQUIRE(kept);
    const auto plan = plan_parsed_model(second, {});
    REQUIRE(plan);
    CHECK(second.scans->find(0) == kept);
    CHECK(scanned_text(*plan) == scanned_text(*expected));
    CHECK(plan->requests.size() == expected->requests.size());
  }
}
