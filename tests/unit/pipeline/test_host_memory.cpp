// SPDX-License-Identifier: MIT
// Host memory that runs out is a status: no crash, no device handle lost (design rule 5).
#include <atomic>
#include <catch2/catch.hpp>

#include "devices.hpp"
#include "replaced_new.hpp"

namespace {

// Allocations of this thread until one fails; 0 = none fails. The failure lasts until disarmed, as
// memory that has run out does.
thread_local std::uint64_t fail_after = 0;
thread_local std::uint64_t allocations = 0;
thread_local bool failed = false;

}  // namespace

bool neffld::test::refuse_new() noexcept {
  ++allocations;
  if (fail_after == 0 || allocations < fail_after) return false;
  failed = true;
  return true;
}

using namespace neffld;
using namespace neffld::test;

namespace {

/// Runs `body` with the k-th allocation and all later ones failing; true if one was refused.
template <class Body>
bool with_failure_at(std::uint64_t k, Body body) {
  struct Disarm {
    ~Disarm() { fail_after = 0; }
  } disarm;
  allocations = 0;
  failed = false;
  fail_after = k;
  body();
  return failed;
}

/// The refused runs for k = 1, 2, ... until one is not refused any more.
template <class Body>
std::uint64_t sweep(Body body) {
  std::uint64_t refused = 0;
  for (std::uint64_t k = 1; body(k); ++k) ++refused;
  return refused;
}

void check_status(const Error& error) {
  INFO(to_sentence(error));
  CHECK(error.error_class == ErrorClass::resource);
  CHECK((error.status == Status::resource || error.status == Status::fail_host_mem_alloc));
}

}  // namespace

TEST_CASE("a parse that runs out of host memory is a status") {
  const Bytes file = sample_bytes("conv-like-v2");
  const std::uint64_t refused = sweep([&](std::uint64_t k) {
    Result<ParsedModel> model;
    const bool out = with_failure_at(k, [&] { model = parse_model(file, Arch::any); });
    INFO("allocation " << k);
    if (!model) {
      CHECK(out);
      check_status(model.error());
    }
    return out;
  });
  CHECK(refused > 20);
}

TEST_CASE("a load that runs out of host memory leaves nothing on the device") {
  for (const char* name : {"conv-like-v2", "dge-lnc2-v3", "pointers-v3"}) {
    Bench bench(architecture_of(name));
    const auto held = bench.held();
    const std::uint64_t refused = sweep([&](std::uint64_t k) {
      ParsedModel model = parsed(name);
      Result<LoadedModel*> loaded;
      const bool out = with_failure_at(k, [&] { loaded = bench.session->load(std::move(model)); });
      INFO(name << ", allocation " << k);
      if (loaded) {
        REQUIRE(bench.session->unload(**loaded));
      } else {
        CHECK(out);
        check_status(loaded.error());
      }
      REQUIRE(bench.held() == held);
      REQUIRE(bench.session->models().empty());
      return out;
    });
    CHECK(refused > 20);
    CHECK(bench.session->verify(load(bench, name)));
  }
}

TEST_CASE("a bind that runs out of host memory leaves the model loaded and unbound") {
  for (const char* name : {"vecadd-v3", "pointers-v3"}) {
    Bench bench;
    LoadedModel* model = &load(bench, name);
    const IoMap io = io_addresses(model->parsed);
    const auto held = bench.held();
    const std::uint64_t refused = sweep([&](std::uint64_t k) {
      Result<void> bound;
      IoMap copy = io;
      const bool out =
          with_failure_at(k, [&] { bound = bench.session->bind(*model, std::move(copy)); });
      INFO(name << ", allocation " << k);
      if (!bound) {
        CHECK(out);
        check_status(bound.error());
        REQUIRE(bench.held() == held);
        REQUIRE_FALSE(model->bound);
      } else {
        REQUIRE(bench.session->unload(*model));
        REQUIRE(bench.held().first == 0);
        model = &load(bench, name);
        REQUIRE(bench.held() == held);
      }
      return out;
    });
    CHECK(refused > 10);
    CHECK(bench.session->bind(*model, io));
    CHECK(bench.session->verify(*model));
  }
}

TEST_CASE("a second bind that runs out of host memory leaves the first in force") {
  for (const char* name : {"vecadd-v3", "pointers-v3"}) {
    for (const std::uint32_t capacity : {default_io_ring_sets, 1u}) {
      Bench bench;
      LoadOptions options;
      options.io_ring_sets = capacity;
      LoadedModel& model = load(bench, name, options);
      const IoMap first = io_addresses(model.parsed),
                  second = io_addresses(model.parsed, 1ull << 33);
      REQUIRE(bench.session->bind(model, first));
      const auto held = bench.held();
      std::uint64_t refused = 0;
      for (bool out = true; out;) {
        IoMap copy = second;
        Result<void> bound;
        out = with_failure_at(refused + 1,
                              [&] { bound = bench.session->bind(model, std::move(copy)); });
        INFO(name << ", cache " << capacity << ", allocation " << refused + 1);
        const auto verified = bench.session->verify(model);
        if (!verified) FAIL_CHECK(to_sentence(verified.error()));
        if (!out) REQUIRE(bound);
        if (bound) {
          CHECK(model.addresses.io == second);
          break;
        }
        ++refused;
        check_status(bound.error());
        REQUIRE(bench.held() == held);
        REQUIRE(model.addresses.io == first);
        REQUIRE(model.queues_initialised);
      }
      CHECK(refused > 10);
      REQUIRE(bench.session->unload(model));
      CHECK(bench.held().first == 0);
    }
  }
}

TEST_CASE("an unload works without host memory") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  REQUIRE(bench.session->bind(model, io_addresses(model.parsed)));
  Result<void> unloaded;
  with_failure_at(1, [&] { unloaded = bench.session->unload(model); });
  CHECK(unloaded);
  CHECK(bench.held().first == 0);
}
