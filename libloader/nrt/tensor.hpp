// SPDX-License-Identifier: MIT
// Tensors and tensor sets (spec 07 sections 3.9 and 3.10).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "storage.hpp"

namespace neffld::nrt {

/// Which bytes a tensor means at one moment.
struct View {
  std::shared_ptr<Storage> storage;  ///< null: no storage yet
  std::uint64_t offset = 0, size = 0;
};

class Tensor {
 public:
  Tensor(const char* name, View view)
      : name_(name != nullptr ? name : "_unknown_"), view_(std::move(view)) {}

  const std::string& name() const { return name_; }
  View view() const {
    const std::scoped_lock lock(mutex_);
    return view_;
  }
  /// Replaces the storage; the old one goes if nobody else uses it.
  void attach(std::shared_ptr<Storage> storage) {
    const std::uint64_t size = storage->size();
    View next{std::move(storage), 0, size};
    const std::scoped_lock lock(mutex_);
    std::swap(view_, next);
  }

  std::atomic<std::uint64_t> completions = 0;  ///< times it was completed as an output

 private:
  std::string name_;
  mutable std::mutex mutex_;
  View view_;
};

/// The bytes [offset, offset + size) of a tensor as a view. Error: NRT_INVALID naming tensor, size,
/// offset and length; also for a tensor without storage.
Result<View> part_of(const Tensor& tensor, std::uint64_t offset, std::uint64_t size);

/// Names to tensor handles. It owns no tensor: a handle may have become stale.
struct TensorSet {
  std::map<std::string, void*, std::less<>> tensors;
};

}  // namespace neffld::nrt
