// SPDX-License-Identifier: MIT
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "model_registry.hpp"

using namespace neffld;

TEST_CASE("H_NN starts at 1001, ascends and is never used twice") {
  ModelRegistry registry;
  CHECK(registry.insert(std::make_shared<ModelRecord>()) == 1001);
  CHECK(registry.insert(std::make_shared<ModelRecord>()) == 1002);
  CHECK(registry.remove(1002) != nullptr);
  CHECK(registry.insert(std::make_shared<ModelRecord>()) == 1003);
  CHECK(registry.ids() == std::vector<std::uint32_t>{1001, 1003});
}

TEST_CASE("A registered model is READY, a removed one is not found") {
  ModelRegistry registry;
  auto record = std::make_shared<ModelRecord>();
  const std::uint32_t h_nn = registry.insert(record);
  CHECK(record->state == ModelState::ready);
  CHECK(static_cast<std::uint32_t>(ModelState::ready) == 4);
  {
    const auto reference = registry.acquire(h_nn);
    REQUIRE(reference);
    CHECK(reference->h_nn == h_nn);
    CHECK(record->references == 1);
  }
  CHECK(record->references == 0);
  CHECK(registry.remove(h_nn) == record);
  CHECK(record->state == ModelState::unloading);
  CHECK_FALSE(registry.acquire(h_nn));
  CHECK(registry.remove(h_nn) == nullptr);
}

TEST_CASE("Removing waits for the references that are out and lets no new one in") {
  ModelRegistry registry;
  const std::uint32_t h_nn = registry.insert(std::make_shared<ModelRecord>());
  auto held = std::make_unique<ModelRegistry::Reference>(registry.acquire(h_nn));
  std::atomic<bool> removed = false;
  std::thread remover([&] {
    registry.remove(h_nn);
    removed = true;
  });
  while (registry.acquire(h_nn)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(removed);
  held.reset();
  remover.join();
  CHECK(removed);
}

TEST_CASE("Of many threads that remove one model, one gets it") {
  ModelRegistry registry;
  const std::uint32_t h_nn = registry.insert(std::make_shared<ModelRecord>());
  std::atomic<int> winners = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { winners += registry.remove(h_nn) != nullptr; });
  }
  for (auto& thread : threads) thread.join();
  CHECK(winners == 1);
}
