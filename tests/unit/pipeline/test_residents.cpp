// SPDX-License-Identifier: MIT
// Several models on one device (decisions 33 and 34).
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "devices.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::size_t count_owner(const LoadedModel& model, std::string_view owner) {
  return static_cast<std::size_t>(
      std::count_if(model.allocations.begin(), model.allocations.end(),
                    [=](const AllocationInfo& info) { return info.owner.starts_with(owner); }));
}

}  // namespace

TEST_CASE("models of one core share its exec rings, and only the first programs the queues") {
  Bench bench;
  LoadedModel& first = load(bench, "vecadd-v3");
  const std::uint64_t inits = bench.session->calls().at(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH);
  LoadedModel& second = load(bench, "cast-v3");
  CHECK(bench.session->calls().at(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH) == inits);
  CHECK(first.queues_initialised);
  CHECK_FALSE(second.queues_initialised);
  for (const char* owner : {"exec tx ring", "exec rx ring", "request buffer"}) {
    CHECK(count_owner(first, owner) == 2);
    CHECK(count_owner(second, owner) == 0);
  }
  CHECK(first.h_model != second.h_model);
  CHECK(first.h_nn != second.h_nn);
  CHECK(bench.session->models().size() == 2);
  CHECK(bench.session->verify(first));
  CHECK(bench.session->verify(second));
}

TEST_CASE("models of one core share its scratchpad pages") {
  Bench bench;
  LoadedModel& first = load(bench, "dge-v3");
  REQUIRE(count_owner(first, "scratchpad page") == 1);
  LoadedModel& second = load(bench, "dge-v3");
  CHECK(count_owner(second, "scratchpad page") == 0);
  CHECK(first.addresses.scratchpad_pages == second.addresses.scratchpad_pages);
  CHECK(bench.session->verify(second));

  // The first to need them may go first.
  REQUIRE(bench.session->unload(first));
  CHECK(bench.session->verify(second));
  LoadedModel& third = load(bench, "dge-v3");
  CHECK(count_owner(third, "scratchpad page") == 0);
  REQUIRE(bench.session->unload(second));
  CHECK(bench.session->verify(third));
  REQUIRE(bench.session->unload(third));
  CHECK(bench.held().first == 0);
}

TEST_CASE("models of one core share a library that is alone, and the last one frees it") {
  Bench bench(2);
  LoadedModel& first = load(bench, "library-v2");
  LoadedModel& second = load(bench, "library-v2");
  LoadedModel& several = load(bench, "libraries-v2");
  for (const char* owner : {"ucode libraries", "ucode table"}) {
    CHECK(count_owner(first, owner) == 1);
    CHECK(count_owner(second, owner) == 0);
    CHECK(count_owner(several, owner) == 1);
  }
  const auto library =
      std::find_if(first.allocations.begin(), first.allocations.end(),
                   [](const AllocationInfo& info) { return info.owner == "ucode libraries"; });
  REQUIRE(library != first.allocations.end());
  std::vector<std::uint8_t> before(5000), after(5000);
  const std::uint64_t handle = library->handle;
  REQUIRE(bench.session->read(handle, 0, before));
  CHECK(std::count(before.begin(), before.end(), 0) < 100);  // random bytes, staged
  REQUIRE(bench.session->unload(several));
  REQUIRE(bench.session->unload(first));  // the one that staged it
  REQUIRE(bench.session->read(handle, 0, after));
  CHECK(before == after);
  CHECK(bench.session->verify(second));
  LoadedModel& third = load(bench, "library-v2");
  CHECK(count_owner(third, "ucode") == 0);
  REQUIRE(bench.session->unload(second));
  REQUIRE(bench.session->unload(third));
  CHECK(bench.held().first == 0);
  // And again from the start.
  CHECK(count_owner(load(bench, "library-v2"), "ucode") == 2);
}

TEST_CASE("residents can go in any order, and every handle comes back") {
  const std::vector<std::string> names = {"vecadd-v3", "dge-v3", "cast-v3", "dge-lnc2-v3"};
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    Bench bench;
    std::vector<LoadedModel*> models;
    for (const std::string& name : names) models.push_back(&load(bench, name));
    REQUIRE(bench.session->bind(*models[2], io_addresses(models[2]->parsed)));
    for (const std::size_t i : order) {
      REQUIRE(bench.session->unload(*models[i]));
      for (const auto& left : bench.session->models()) {
        const auto verified = bench.session->verify(*left);
        if (!verified) FAIL(to_sentence(verified.error()));
      }
    }
    CHECK(bench.held().first == 0);
    CHECK(bench.held().second == 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a load that fails beside a resident leaves the resident and its memory alone") {
  Bench bench;
  LoadedModel& resident = load(bench, "dge-v3");
  const auto held = bench.held();
  for (std::uint64_t call = 1; call < 120; call += 7) {
    bench.script->answer = -12;
    bench.script->fail_at = bench.script->calls + call;
    const auto failed = bench.session->load(parsed("pointers-v3"));
    bench.script->fail_at = 0;
    if (failed) {
      REQUIRE(bench.session->unload(**failed));
    }
    REQUIRE(bench.held() == held);
    REQUIRE(bench.session->verify(resident));
  }
  REQUIRE(bench.session->unload(resident));
  CHECK(bench.held().first == 0);
}

TEST_CASE("a logical core places the model on its physical cores") {
  for (std::uint32_t core = 0; core < 4; ++core) {
    Bench bench;
    LoadOptions options;
    options.logical_core = core;
    LoadedModel& model = load(bench, "vecadd-v3", options);
    REQUIRE(model.plan.kbins.size() == 2);
    CHECK(model.plan.kbins[0].core == 2 * core);
    CHECK(model.plan.kbins[1].core == 2 * core + 1);
    for (const AllocationInfo& info : model.allocations) CHECK(info.core / 2 == core);
    CHECK(bench.session->verify(model));
  }
}

TEST_CASE("models on different cores own their queues and share nothing") {
  Bench bench;
  LoadedModel& first = load(bench, "vecadd-v3");
  LoadOptions options;
  options.logical_core = 2;
  LoadedModel& second = load(bench, "vecadd-v3", options);
  CHECK(first.queues_initialised);
  CHECK(second.queues_initialised);
  CHECK(count_owner(second, "exec tx ring") == 2);
  std::set<std::uint64_t> addresses;
  for (const LoadedModel* model : {&first, &second}) {
    for (const AllocationInfo& info : model->allocations) {
      CHECK(addresses.insert(info.pa).second);
    }
  }
  REQUIRE(bench.session->unload(first));
  CHECK(bench.session->verify(second));
}

TEST_CASE("after the queue owner is gone the next load programs the queues again") {
  Bench bench;
  REQUIRE(bench.session->unload(load(bench, "vecadd-v3")));
  CHECK(load(bench, "cast-v3").queues_initialised);
}

TEST_CASE("allocation numbers ascend over all models of a session") {
  Bench bench;
  std::uint64_t next = 0;
  for (const char* name : {"vecadd-v3", "cast-v3"}) {
    for (const AllocationInfo& info : load(bench, name).allocations) CHECK(info.seq == next++);
  }
}

TEST_CASE("pages of two sizes never mix on a core") {
  Bench bench(2);
  load(bench, "virtual-overlap-v2");
  LoadOptions other;
  other.scratchpad.page_bytes = 1ull << 30;
  const auto refused = bench.session->load(parsed("virtual-overlap-v2"), other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error_class == ErrorClass::usage);
}

TEST_CASE("models of one core share contiguous pages, each at the start of its own last one") {
  LoadOptions contiguous;
  contiguous.scratchpad.contiguous = true;
  const std::vector<std::string> names = {"dge-v3", "oversized-v3", "scratchpad-lnc2-v3"};
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    Bench bench;
    std::vector<LoadedModel*> models;
    for (const std::size_t i : order) models.push_back(&load(bench, names[i], contiguous));
    for (LoadedModel* model : models) {
      CHECK(model->plan.scratchpad.contiguous);
      const auto& pages = model->addresses.scratchpad_pages.at(0);
      for (std::size_t page = 1; page < pages.size(); ++page) {
        CHECK(pages[page] + contiguous_page_bytes == pages[page - 1]);
      }
      CHECK(bench.session->verify(*model));
    }
    // First in, first out: pages are freed from the lowest address up, whoever goes.
    for (std::size_t i = 0; i < models.size(); ++i) {
      REQUIRE(bench.session->unload(*models[i]));
      for (std::size_t left = i + 1; left < models.size(); ++left) {
        CHECK(bench.session->verify(*models[left]));
      }
    }
    CHECK(bench.held().first == 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("paged and contiguous scratchpads never mix on a core") {
  Bench bench;
  LoadOptions contiguous;
  contiguous.scratchpad.contiguous = true;
  LoadedModel& first = load(bench, "dge-v3");
  const auto refused = bench.session->load(parsed("dge-v3"), contiguous);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error_class == ErrorClass::usage);
  REQUIRE(bench.session->unload(first));
  CHECK(bench.session->load(parsed("dge-v3"), contiguous));
}
