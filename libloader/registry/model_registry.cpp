// SPDX-License-Identifier: MIT
#include "model_registry.hpp"

#include <chrono>
#include <mutex>
#include <thread>

namespace neffld {

std::uint32_t ModelRegistry::insert(std::shared_ptr<ModelRecord> record) {
  const std::unique_lock lock(lock_);
  record->h_nn = next_;
  models_.emplace(next_, record);
  record->state = ModelState::ready;
  return next_++;
}

ModelRegistry::Reference ModelRegistry::acquire(std::uint32_t h_nn) const {
  const std::shared_lock lock(lock_);
  const auto found = models_.find(h_nn);
  if (found == models_.end()) return {};
  found->second->references.fetch_add(1, std::memory_order_relaxed);
  return Reference(found->second);
}

std::shared_ptr<ModelRecord> ModelRegistry::remove(std::uint32_t h_nn) {
  std::shared_ptr<ModelRecord> record;
  {
    const std::unique_lock lock(lock_);
    const auto found = models_.find(h_nn);
    if (found == models_.end()) return nullptr;
    record = std::move(found->second);
    models_.erase(found);
    record->state = ModelState::unloading;
  }
  // Unlinked first: no reference can be added while we wait (spec 04 section 1).
  while (record->references.load(std::memory_order_acquire) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return record;
}

std::vector<std::uint32_t> ModelRegistry::ids() const {
  const std::shared_lock lock(lock_);
  std::vector<std::uint32_t> ids;
  for (const auto& [h_nn, record] : models_) ids.push_back(h_nn);
  return ids;
}

}  // namespace neffld
