// SPDX-License-Identifier: MIT
// Rings of the model's queue sets: static ones at load, templates once inputs and outputs are bound
// (spec 04 sections 5, 6 and 8; decisions 3, 21, 33).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "block_author.hpp"
#include "builders.hpp"
#include "host_pages.hpp"
#include "imcpy.hpp"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

namespace neffld {
namespace {

std::string ring_owner(const Kbin& kbin, const RingPlan& ring, std::string_view side) {
  return fmt::format("ring {}.{}.{} {}", kbin.queue_sets[ring.queue_set].name, ring.instance,
                     ring.k, side);
}

/// Which column of a memory report a ring belongs to, by the type of its set (spec 04 section 3).
MemUsage ring_usage(RingType type) {
  switch (type) {
    case RingType::data:
      return MemUsage::rings_spill;
    case RingType::in:
    case RingType::out:
      return MemUsage::rings_io;
    default:
      return MemUsage::rings_runtime;
  }
}

void add_ring(PlanContext& context, std::uint32_t number) {
  RingPlan& ring = context.out().rings[number];
  const MemUsage usage = ring_usage(context.kbin().queue_sets[ring.queue_set].ring_type);
  const std::uint64_t bytes = std::uint64_t{NEURON_UDMA_DESC_SIZE} * ring.allocated;
  ring.tx_request = context.add(SectionKind::ring_tx, number, bytes, NEURON_RING_BASE_ALIGN, usage,
                                ring_owner(context.kbin(), ring, "tx"));
  ring.rx_request = context.add(SectionKind::ring_rx, number, bytes, NEURON_RING_BASE_ALIGN, usage,
                                ring_owner(context.kbin(), ring, "rx"));
}

/// The rings of one instance of a queue set in host memory: every ring's TX half, then its RX half.
class RingGroup {
 public:
  /// `memory` has bytes_of(rings); what was in it before is overwritten: descriptors by the author,
  /// the slack behind them here.
  RingGroup(std::span<const RingPlan> rings, MutableBytes memory) : rings_(rings) {
    std::uint8_t* next = memory.data();
    for (const RingPlan& ring : rings) {
      halves_.push_back({next, half_bytes(ring)});
      halves_.push_back({next + half_bytes(ring), half_bytes(ring)});
      next += 2 * half_bytes(ring);
      clear_slack(ring, halves_[halves_.size() - 2]);
      clear_slack(ring, halves_.back());
    }
  }
  MutableBytes tx(std::size_t i) const { return halves_[2 * i]; }
  MutableBytes rx(std::size_t i) const { return halves_[2 * i + 1]; }
  std::span<const RingPlan> rings() const { return rings_; }
  bool empty() const { return bytes_of(rings_) == 0; }
  static std::uint64_t bytes_of(std::span<const RingPlan> rings) {
    std::uint64_t bytes = 0;
    for (const RingPlan& ring : rings) bytes += 2 * half_bytes(ring);
    return bytes;
  }

 private:
  static std::uint64_t half_bytes(const RingPlan& ring) {
    return std::uint64_t{NEURON_UDMA_DESC_SIZE} * ring.allocated;
  }
  static void clear_slack(const RingPlan& ring, MutableBytes half) {
    const std::uint64_t used = std::uint64_t{NEURON_UDMA_DESC_SIZE} * ring.used;
    std::fill(half.begin() + static_cast<std::ptrdiff_t>(used), half.end(), std::uint8_t{0});
  }
  std::span<const RingPlan> rings_;
  std::vector<MutableBytes> halves_;
};

/// Authors one instance of a queue set into host memory.
Result<void> author_group(const EmitContext& context, std::span<const PointerBase> bases,
                          std::span<const std::uint32_t> blocks, const RingGroup& group) {
  const KbinPlan& planned = context.planned();
  const auto sibling = context.plan.kbins.size() == 2 ? 1 - context.kbin_index : context.kbin_index;
  const BlockAuthor author{context.kbin(),
                           context.arch,
                           planned.core,
                           context.plan.kbins[sibling].core,
                           planned.constant_block,
                           context.signal_source(),
                           bases,
                           context.plan.packet_bytes};
  std::vector<RingWriter> writers;
  writers.reserve(group.rings().size());
  constexpr std::uint32_t no_request = 0xFFFF'FFFF;  // a host vring has no section on the device
  for (std::size_t i = 0; i < group.rings().size(); ++i) {
    const RingPlan& ring = group.rings()[i];
    writers.emplace_back(context.patcher(group.tx(i), ring.tx_request.value_or(no_request)),
                         context.patcher(group.rx(i), ring.rx_request.value_or(no_request)),
                         context.arch.caps.strong_order_writes);
  }
  for (const std::uint32_t block : blocks) {
    if (auto result = author.lay_down(block, writers); !result) {
      Error error = std::move(result.error());
      error.where = {context.kbin().name,
                     context.kbin().queue_sets[context.kbin().blocks[block].queue_set].name,
                     context.kbin().blocks[block].id, std::nullopt};
      return tl::unexpected<Error>(std::move(error));
    }
  }
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const RingPlan& ring = group.rings()[i];
    if (writers[i].used() == ring.used) continue;
    return invalid(
        {.member = context.kbin().name, .path = ring_owner(context.kbin(), ring, "tx")},
        fmt::format("ring holds {} descriptors, {} were planned", writers[i].used(), ring.used));
  }
  return {};
}

/// The ring families that own rings (spec 04 section 8).
enum class Family : std::uint8_t {
  fixed,     ///< every pointer is known at load
  indirect,  ///< the same, and descriptors may name places in their own rings
  bound,     ///< names inputs or outputs: exists once they have addresses
};

Family family_of(const Kbin& kbin, const KbinPlan& planned, std::uint32_t queue_set) {
  if (kbin.queue_sets[queue_set].ring_type == RingType::indirect_memcpy) return Family::indirect;
  return planned.queue_sets[queue_set].is_template ? Family::bound : Family::fixed;
}

/// Calls `use` with the instance's number and rings of every instance of every set of a family.
template <class Use>
Result<void> for_each_instance(const Kbin& kbin, const KbinPlan& planned, Family family, Use use) {
  for (std::uint32_t number = 0; number < planned.queue_sets.size(); ++number) {
    const QueueSetPlan& set = planned.queue_sets[number];
    if (set.ring_count == 0 || family_of(kbin, planned, number) != family) continue;
    const auto per_instance =
        static_cast<std::uint32_t>(set.ring_count / set.triggered_blocks.size());
    for (std::size_t instance = 0; instance < set.triggered_blocks.size(); ++instance) {
      const auto rings =
          std::span(planned.rings).subspan(set.first_ring + instance * per_instance, per_instance);
      NEFFLD_TRY(use(set.triggered_blocks[instance], rings));
    }
  }
  return {};
}

/// Calls `use` with the authored rings of every instance of every set of a family. One block of
/// memory serves them in turn: most of what authoring costs is the first touch of a page.
template <class Use>
Result<void> for_each_group(const EmitContext& context, Family family, Use use) {
  using Blocks = std::span<const std::uint32_t>;
  using Rings = std::span<const RingPlan>;
  NEFFLD_ASSIGN(const std::vector<PointerBase> bases,
                pointer_bases(context.kbin(), context.planned(), context.addresses));
  std::uint64_t most = 0;
  NEFFLD_TRY(for_each_instance(context.kbin(), context.planned(), family,
                               [&](Blocks, Rings rings) -> Result<void> {
                                 most = std::max(most, RingGroup::bytes_of(rings));
                                 return {};
                               }));
  const HostPages memory(most);
  return for_each_instance(context.kbin(), context.planned(), family,
                           [&](Blocks blocks, Rings rings) -> Result<void> {
                             const RingGroup group(rings, memory.bytes());
                             NEFFLD_TRY(author_group(context, bases, blocks, group));
                             return use(group);
                           });
}

/// Hands the rings of a group to the sink, ring by ring, TX then RX.
Result<void> emit_group(const EmitContext& context, const RingGroup& group) {
  for (std::size_t i = 0; i < group.rings().size(); ++i) {
    const RingPlan& ring = group.rings()[i];
    if (ring.allocated == 0) continue;
    NEFFLD_TRY(context.sink({*ring.tx_request, group.tx(i), true}));
    NEFFLD_TRY(context.sink({*ring.rx_request, group.rx(i), true}));
  }
  return {};
}

Result<void> plan_rings_of(PlanContext& context, Family family) {
  for (std::uint32_t number = 0; number < context.out().rings.size(); ++number) {
    const RingPlan& ring = context.out().rings[number];
    if (ring.allocated == 0) continue;
    if (family_of(context.kbin(), context.out(), ring.queue_set) == family) {
      add_ring(context, number);
    }
  }
  return {};
}

Result<void> emit_rings_of(const EmitContext& context, Family family) {
  return for_each_group(context, family,
                        [&](const RingGroup& group) { return emit_group(context, group); });
}

/// Pointers into the set's own rings become absolute; only now have those rings a place.
Result<void> absolutise_group(const EmitContext& context, const RingGroup& group) {
  std::vector<ImcpyRing> rings;
  for (std::size_t i = 0; i < group.rings().size(); ++i) {
    const RingPlan& ring = group.rings()[i];
    if (ring.allocated == 0) continue;
    rings.push_back({context.patcher(group.rx(i), *ring.rx_request), ring.used,
                     context.address_of(*ring.tx_request), context.address_of(*ring.rx_request),
                     *ring.tx_request, *ring.rx_request});
  }
  return absolutise_imcpy(rings);
}

}  // namespace

Result<void> plan_static_rings(PlanContext& context) {
  return plan_rings_of(context, Family::fixed);
}

Result<void> emit_static_rings(const EmitContext& context) {
  return emit_rings_of(context, Family::fixed);
}

Result<void> plan_imcpy_rings(PlanContext& context) {
  const Kbin& kbin = context.kbin();
  for (std::uint32_t i = 0; i < kbin.queue_sets.size(); ++i) {
    if (kbin.queue_sets[i].ring_type != RingType::indirect_memcpy) continue;
    const QueueSetPlan& set = context.out().queue_sets[i];
    const Where where{.member = kbin.name, .path = kbin.queue_sets[i].name};
    if (set.is_template) {  // these rings are made at load, when no tensor is known (spec 05 B5)
      return invalid(where,
                     "an indirect memcpy queue names an input or output, expected variables "
                     "that are placed at load");
    }
    const bool empty = std::all_of(set.triggered_blocks.begin(), set.triggered_blocks.end(),
                                   [](const auto& blocks) { return blocks.empty(); });
    if (empty) {
      return fail(Status::failure, ErrorClass::format, where,
                  "trying to load an empty indirect memcpy vring set");
    }
  }
  return plan_rings_of(context, Family::indirect);
}

Result<void> emit_imcpy_rings(const EmitContext& context) {
  return for_each_group(context, Family::indirect, [&](const RingGroup& group) -> Result<void> {
    if (!group.empty()) NEFFLD_TRY(absolutise_group(context, group));
    return emit_group(context, group);
  });
}

Result<void> emit_bound_rings(const EmitContext& context) {
  return emit_rings_of(context, Family::bound);
}

Result<std::uint32_t> plan_bound_rings(std::span<const Kbin> kbins, Plan& plan) {
  return guarded([&]() -> Result<std::uint32_t> {
    const PlanOptions options;
    const std::size_t before = plan.requests.size();
    for (std::uint32_t i = 0; i < kbins.size(); ++i) {
      PlanContext context{kbins, options, arch_table(plan.arch), plan, i};
      NEFFLD_TRY(plan_rings_of(context, Family::bound));
    }
    return static_cast<std::uint32_t>(plan.requests.size() - before);
  });
}

Result<void> author_template_vrings(std::span<const Kbin> kbins, const Plan& plan,
                                    const Addresses& addresses,
                                    const std::function<Result<void>(const HostVring&)>& sink) {
  return guarded([&]() -> Result<void> {
    Addresses unbound = addresses;
    unbound.io.clear();
    Ledger ledger;
    const SectionSink no_sections;
    for (std::uint32_t i = 0; i < kbins.size(); ++i) {
      const EmitContext context{kbins,  plan,   arch_table(plan.arch), unbound,
                                ledger, ledger, no_sections,           i};
      NEFFLD_TRY(
          for_each_group(context, Family::bound, [&](const RingGroup& group) -> Result<void> {
            for (std::size_t r = 0; r < group.rings().size(); ++r) {
              const RingPlan& ring = group.rings()[r];
              const std::size_t used = std::size_t{NEURON_UDMA_DESC_SIZE} * ring.used;
              NEFFLD_TRY(sink({i, &ring, true, group.tx(r).first(used)}));
              NEFFLD_TRY(sink({i, &ring, false, group.rx(r).first(used)}));
            }
            return {};
          }));
    }
    return {};
  });
}

}  // namespace neffld
