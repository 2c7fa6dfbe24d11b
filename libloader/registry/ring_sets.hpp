// SPDX-License-Identifier: MIT
// The rings of a model's bindings and their cache: dynamic ring sets (spec 04 section 8.3).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device_calls.hpp"
#include "neffld/session.hpp"

namespace neffld {

/// Addresses of all inputs and outputs: kbins in order, var_id ascending. The contents of bound
/// rings depend on nothing else that changes while a model is loaded.
using TensorKey = std::vector<std::uint64_t>;

TensorKey tensor_key(std::span<const Kbin> kbins,
                     const std::map<std::string, std::uint64_t, std::less<>>& io);

/// The rings that one array of addresses resolved the template queue sets to. Frees them.
struct RingSet {
  RingSet(DeviceCalls& calls, TensorKey tensors) : key(std::move(tensors)), memory(calls) {}
  TensorKey key;
  AllocationList memory;                    ///< in the order of the plan's requests
  std::vector<AllocationInfo> allocations;  ///< the same as reports show it
};

/// The ring sets of one model, most recently used first.
class RingSetCache {
 public:
  using Sets = std::list<RingSet>;

  /// The set of `key`, or end().
  Sets::iterator find(const TensorKey& key);
  Sets::iterator begin() { return sets_.begin(); }
  Sets::iterator end() { return sets_.end(); }

  /// Makes `set`, an element of this cache or of `from`, the most recently used one.
  void use(Sets::iterator set) noexcept { sets_.splice(sets_.begin(), sets_, set); }
  void insert(Sets& from) noexcept { sets_.splice(sets_.begin(), from); }

  /// Frees the least recently used sets until `capacity` are left. What the driver refuses to free
  /// stays the model's: the next call and release() try again.
  void evict(std::size_t capacity) noexcept;
  /// Frees everything; returns the first error and goes on regardless.
  Result<void> release();

  /// Every live allocation of every set but `except`.
  template <class Each>
  void for_each_allocation(const RingSet* except, Each each) const {
    for (const Sets* sets : {&sets_, &evicted_}) {
      for (const RingSet& set : *sets) {
        if (&set == except) continue;
        for (std::size_t i = 0; i < set.memory.size(); ++i) each(set.allocations[i]);
      }
    }
  }
  const RingSet* front() const { return sets_.empty() ? nullptr : &sets_.front(); }

 private:
  Sets sets_;
  Sets evicted_;  ///< what the driver would not free yet
};

}  // namespace neffld
