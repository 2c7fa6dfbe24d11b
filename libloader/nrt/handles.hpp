// SPDX-License-Identifier: MIT
// Live handles. A handle is a number that is never used twice and is no address, so that a stale
// one is told from a live one whatever happened to the memory, and nothing can be read through it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace neffld::nrt {

enum class HandleKind : std::uint8_t { model = 1, tensor = 2, tensor_set = 3 };

template <class T, HandleKind kind>
class HandleTable {
 public:
  void* insert(std::shared_ptr<T> object) {
    const std::scoped_lock lock(mutex_);
    const std::uintptr_t handle = base | ++last_ << 4;
    live_.emplace(handle, std::move(object));
    return reinterpret_cast<void*>(handle);
  }
  /// Null for NULL, stale handles and handles of another kind.
  std::shared_ptr<T> find(const void* handle) const {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == live_.end() ? nullptr : found->second;
  }
  /// Ends a handle. Of several callers one gets the object.
  std::shared_ptr<T> take(const void* handle) {
    const std::scoped_lock lock(mutex_);
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == live_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    live_.erase(found);
    return object;
  }
  /// Ends every handle.
  void clear() {
    const std::scoped_lock lock(mutex_);
    live_.clear();
  }

  /// For whoever forks: held meanwhile, or the child could wait for a thread that it does not have.
  std::mutex& mutex() { return mutex_; }

 private:
  /// Outside the canonical addresses of every 64-bit process: using one as a pointer faults.
  static constexpr std::uintptr_t base =
      std::uintptr_t{0x4E52} << 48 | static_cast<std::uintptr_t>(kind) << 44;

  mutable std::mutex mutex_;  ///< not shared among readers: a child may unlock only such a one
  std::unordered_map<std::uintptr_t, std::shared_ptr<T>> live_;
  std::uintptr_t last_ = 0;
};

}  // namespace neffld::nrt
