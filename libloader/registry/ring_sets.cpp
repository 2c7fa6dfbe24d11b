// SPDX-License-Identifier: MIT
#include "ring_sets.hpp"

#include <algorithm>

namespace neffld {

TensorKey tensor_key(std::span<const Kbin> kbins,
                     const std::map<std::string, std::uint64_t, std::less<>>& io) {
  constexpr std::uint64_t no_address = ~std::uint64_t{0};  // relocation refuses a tensor there
  TensorKey key;
  for (const Kbin& kbin : kbins) {
    for (const Variable& variable : kbin.variables) {
      if (variable.kind != VarKind::input && variable.kind != VarKind::output) continue;
      const auto bound = io.find(variable.name);
      key.push_back(bound == io.end() ? no_address : bound->second);
    }
  }
  return key;
}

RingSetCache::Sets::iterator RingSetCache::find(const TensorKey& key) {
  return std::find_if(sets_.begin(), sets_.end(),
                      [&](const RingSet& set) { return set.key == key; });
}

void RingSetCache::evict(std::size_t capacity) noexcept {
  while (sets_.size() > capacity) evicted_.splice(evicted_.end(), sets_, std::prev(sets_.end()));
  while (!evicted_.empty()) {
    AllocationList& memory = evicted_.front().memory;
    while (memory.size() != 0) {
      if (!memory.release_last()) return;
    }
    evicted_.pop_front();
  }
}

Result<void> RingSetCache::release() {
  Result<void> first;
  for (Sets* sets : {&evicted_, &sets_}) {
    for (RingSet& set : *sets) {
      auto freed = set.memory.release();
      if (first && !freed) first = std::move(freed);
    }
    sets->clear();
  }
  return first;
}

}  // namespace neffld
