// SPDX-License-Identifier: MIT
// Queue sets: hardware queues, templates, and how many descriptors each ring will hold (spec 04
// sections 2.2 steps 4, 5 and 8, decisions 3, 5, 21, 36).
#include <fmt/format.h>

#include <algorithm>

#include "builders.hpp"
#include "elements.hpp"
#include "neuron_abi/udma.h"

namespace neffld {
namespace {

constexpr std::uint32_t max_model_queues = 13;  // queue ids 0..12; 13 is internal (decision 3)

bool is_io(const Kbin& kbin, const AccessPattern& side) {
  const VarKind kind = kbin.variables[side.var_id].kind;
  return kind == VarKind::input || kind == VarKind::output;
}

Result<void> check_block(const Kbin& kbin, const DmaBlock& block, std::size_t kbin_count) {
  const QueueSet& queue = kbin.queue_sets[block.queue_set];
  const Where where{.path = queue.name, .record = block.id};
  if (block.event && queue.num_queues > 1) {
    return invalid(where,
                   fmt::format("`event` in a block of a set with {} queues, expected 1 queue",
                               queue.num_queues));
  }
  if (!block.remote_semaphores.empty() && kbin_count != 2) {
    return invalid(where,
                   fmt::format("`remote_semaphores` with {} subgraphs, expected 2", kbin_count));
  }
  return {};
}

/// Adds a block to the report's sums and to what is known about its queue set.
Result<void> account_block(const Kbin& kbin, const DmaBlock& block, KbinPlan& out) {
  QueueSetPlan& set = out.queue_sets[block.queue_set];
  ++out.totals.blocks;
  for (std::uint32_t i = 0; i < block.descriptor_count; ++i) {
    const DmaDescriptor& descriptor = kbin.descriptors[block.first_descriptor + i];
    switch (descriptor.op) {
      case DmaOp::copy:
        break;
      case DmaOp::cast:
        set.uses_cast = true;
        ++out.totals.casts;
        break;
      case DmaOp::transpose:
        ++out.totals.transposes;
        break;
      default:
        return unsupported({.path = kbin.queue_sets[block.queue_set].name, .record = block.id},
                           fmt::format("DMA operation '{}' has no known descriptor encoding",
                                       dma_op_name(descriptor.op)));
    }
    if (is_io(kbin, descriptor.from) || is_io(kbin, descriptor.to)) set.is_template = true;
    ++out.totals.descriptors;
    if (descriptor.op != DmaOp::transpose) {
      out.totals.elements = saturating_add(out.totals.elements, expand(descriptor).elements);
    }
    out.totals.bytes = saturating_add(out.totals.bytes, destination_bytes(descriptor));
  }
  return {};
}

/// Gives every set that owns rings its hardware queue (decision 3).
Result<void> rank_queue_sets(const Kbin& kbin, KbinPlan& out) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < kbin.queue_sets.size(); ++i) {
    if (kbin.queue_sets[i].dynamic) continue;
    if (rank == max_model_queues) {
      return fail(Status::resource, ErrorClass::resource, {.path = kbin.queue_sets[i].name},
                  fmt::format("model has more than {} queue sets with rings, expected at most {} "
                              "per core",
                              max_model_queues, max_model_queues));
    }
    out.queue_sets[i].queue_id = rank++;
  }
  return {};
}

/// Distributes the streams' triggers over the ring instances, in program order.
void collect_triggers(const Kbin& kbin, KbinPlan& out) {
  for (std::size_t i = 0; i < kbin.queue_sets.size(); ++i) {
    out.queue_sets[i].triggered_blocks.resize(kbin.queue_sets[i].instances.size());
  }
  std::vector<bool> triggered(kbin.blocks.size());
  for (const StreamPlan& stream : out.streams) {
    for (const std::uint32_t index : trigger_order(stream)) {
      const DmaBlock& block = kbin.blocks[index];
      out.queue_sets[block.queue_set].triggered_blocks[block.instance].push_back(index);
      triggered[index] = true;
    }
  }
  for (std::size_t i = 0; i < kbin.blocks.size(); ++i) {
    if (triggered[i]) continue;
    out.warnings.push_back(
        fmt::format("{}: block {} of queue {} is never triggered and not laid "
                    "down",
                    kbin.name, kbin.blocks[i].id, kbin.queue_sets[kbin.blocks[i].queue_set].name));
  }
}

/// All rings of a model are authored in host memory, so their sum has a limit of its own.
class RingBudget {
 public:
  RingBudget(std::uint64_t limit, std::span<const KbinPlan> counted) : limit_(limit) {
    for (const KbinPlan& kbin : counted) {
      for (const RingPlan& ring : kbin.rings) bytes_ += ring_bytes(ring.allocated);
    }
  }
  /// Takes both halves of a ring of `descriptors`.
  Result<void> take(const QueueSet& queue, std::uint32_t descriptors) {
    bytes_ += ring_bytes(descriptors);
    if (bytes_ <= limit_) return {};
    return fail(Status::resource, ErrorClass::resource, {.path = queue.name},
                fmt::format("the rings of this model up to this queue set take {} bytes, allowed "
                            "are {} (--max-ring-bytes)",
                            bytes_, limit_));
  }

 private:
  static std::uint64_t ring_bytes(std::uint32_t descriptors) {
    return 2 * std::uint64_t{NEURON_UDMA_DESC_SIZE} * descriptors;
  }

  std::uint64_t limit_, bytes_ = 0;
};

Result<void> count_rings(const Kbin& kbin, const PlanOptions& options, std::uint32_t set_index,
                         RingBudget& budget, KbinPlan& out) {
  QueueSetPlan& set = out.queue_sets[set_index];
  const std::uint32_t rings = kbin.queue_sets[set_index].num_queues;
  if (set.is_template && set.triggered_blocks.size() != 1) {  // spec 04 section 3
    return invalid({.path = kbin.queue_sets[set_index].name},
                   fmt::format("found {} instances of a queue that names inputs or outputs, "
                               "expected 1",
                               set.triggered_blocks.size()));
  }
  set.first_ring = static_cast<std::uint32_t>(out.rings.size());
  for (std::uint32_t instance = 0; instance < set.triggered_blocks.size(); ++instance) {
    std::array<std::uint64_t, std::tuple_size_v<BlockCounter>> used{};
    for (const std::uint32_t block : set.triggered_blocks[instance]) {
      for (std::uint32_t k = 0; k < rings; ++k) {
        used[k] += out.block_counters[block][k];
        if (used[k] > options.max_ring_descriptors) {
          return fail(
              Status::resource, ErrorClass::resource,
              {.path = kbin.queue_sets[set_index].name, .record = kbin.blocks[block].id},
              fmt::format("Descriptor limit reached. Descriptors in vring {}, Max allowed {}",
                          used[k], options.max_ring_descriptors));
        }
      }
    }
    for (std::uint32_t k = 0; k < rings; ++k) {
      const auto count = static_cast<std::uint32_t>(used[k]);
      if (count != 0) NEFFLD_TRY(budget.take(kbin.queue_sets[set_index], linear_ring_size(count)));
      out.rings.push_back({set_index, instance, k, count, count ? linear_ring_size(count) : 0,
                           std::nullopt, std::nullopt});
    }
  }
  set.ring_count = static_cast<std::uint32_t>(out.rings.size()) - set.first_ring;
  return {};
}

}  // namespace

std::uint32_t linear_ring_size(std::uint32_t used) {
  return used <= 31 ? 64 : (used + 16 + 15) / 16 * 16;
}

Result<void> plan_queue_sets(PlanContext& context) {
  const Kbin& kbin = context.kbin();
  KbinPlan& out = context.out();
  out.queue_sets.resize(kbin.queue_sets.size());
  out.block_counters.reserve(kbin.blocks.size());
  for (const DmaBlock& block : kbin.blocks) {
    NEFFLD_TRY(check_block(kbin, block, context.kbins.size()));
    NEFFLD_TRY(account_block(kbin, block, out));
    out.block_counters.push_back(
        count_block(kbin, block, kbin.queue_sets[block.queue_set].num_queues));
  }
  NEFFLD_TRY(rank_queue_sets(kbin, out));
  collect_triggers(kbin, out);
  RingBudget budget(context.options.max_ring_bytes,
                    std::span(context.plan.kbins).first(context.kbin_index));
  for (std::uint32_t i = 0; i < kbin.queue_sets.size(); ++i) {
    if (!kbin.queue_sets[i].dynamic) NEFFLD_TRY(count_rings(kbin, context.options, i, budget, out));
  }
  return {};
}

}  // namespace neffld
