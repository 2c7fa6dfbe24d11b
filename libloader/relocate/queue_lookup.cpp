// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "translator.hpp"

namespace neffld {

namespace {

constexpr std::size_t max_instances = 1u << 16;  // [ours]; each has up to 16 rings

}  // namespace

QueueLookup::BlockKey QueueLookup::key(Instance instance, std::uint32_t function,
                                       std::uint32_t block_id) {
  return {std::uint64_t{instance.queue_set} << 32 | instance.instance,
          std::uint64_t{function} << 32 | block_id};
}

Result<QueueLookup> QueueLookup::build(const Kbin& kbin) {
  QueueLookup lookup;
  lookup.functions_.emplace("", 0);  // MAIN
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
  for (std::uint32_t i = 0; i < kbin.blocks.size(); ++i) {
    const DmaBlock& block = kbin.blocks[i];
    const auto number = static_cast<std::uint32_t>(lookup.functions_.size());
    const std::uint32_t function = lookup.functions_.emplace(block.function, number).first->second;
    if (!lookup.blocks_.emplace(key({block.queue_set, block.instance}, function, block.id), i)
             .second) {
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

std::optional<std::uint32_t> QueueLookup::find_block(Instance instance, std::string_view function,
                                                     std::uint32_t block_id) const {
  const auto number = functions_.find(function);
  if (number == functions_.end()) return std::nullopt;
  const auto found = blocks_.find(key(instance, number->second, block_id));
  if (found == blocks_.end()) return std::nullopt;
  return found->second;
}

}  // namespace neffld
