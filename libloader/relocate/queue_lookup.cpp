// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "translator.hpp"

namespace neffld {

namespace {

constexpr std::size_t max_instances = 1u << 16;  // [ours]; each has up to 16 rings

}  // namespace

std::uint64_t QueueLookup::key(Instance instance, std::uint32_t block_id) {
  // At most 32 queue sets of 2^16 instances, so the three numbers fit one word.
  return std::uint64_t{instance.queue_set} << 56 | std::uint64_t{instance.instance} << 32 |
         block_id;
}

Result<QueueLookup> QueueLookup::build(const Kbin& kbin) {
  QueueLookup lookup;
  for (std::uint32_t set = 0; set < kbin.queue_sets.size(); ++set) {
    const QueueSet& queue = kbin.queue_sets[set];
    if (queue.instances.size() > max_instances) {
      return fail(Status::resource, ErrorClass::resource, {.path = queue.name},
                  fmt::format("found {} queue instances, expected at most {}",
                              queue.instances.size(), max_instances));
    }
    for (std::uint32_t i = 0; i < queue.instances.size(); ++i) {
      lookup.instances_.emplace(queue.instances[i], Instance{set, i});
    }
    lookup.instances_.emplace(queue.name, Instance{set, 0});
  }
  lookup.blocks_.reserve(kbin.blocks.size());
  for (std::uint32_t i = 0; i < kbin.blocks.size(); ++i) {
    const DmaBlock& block = kbin.blocks[i];
    if (!block.function.empty()) continue;  // only functions trigger those, and they are refused
    if (!lookup.blocks_.emplace(key({block.queue_set, block.instance}, block.id), i).second) {
      return invalid(
          {.path = kbin.queue_sets[block.queue_set].name},
          fmt::format("DMA block id {} occurs twice, expected unique ids in a queue", block.id));
    }
  }
  return lookup;
}

std::optional<QueueLookup::Instance> QueueLookup::find(std::string_view name) const {
  const auto found = instances_.find(name);
  if (found == instances_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> QueueLookup::find_block(Instance instance,
                                                     std::uint32_t block_id) const {
  const auto found = blocks_.find(key(instance, block_id));
  if (found == blocks_.end()) return std::nullopt;
  return found->second;
}

}  // namespace neffld
