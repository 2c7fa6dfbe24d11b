// SPDX-License-Identifier: MIT
// Scans the instruction streams before any address is known: checks every record, counts lowered
// slots and collects the triggers in program order (spec 05 A6, decision 5).
#include <fmt/format.h>

#include "builders.hpp"
#include "translator.hpp"

namespace neffld {
namespace {

using isa::Record;
using isa::Treatment;

constexpr std::uint64_t preamble_slots = 1;
constexpr std::uint64_t postamble_slots = 2;

/// Adds what one pseudo record contributes to the plan; `rings` is set for C1 and C2.
Result<void> scan_pseudo(const RecordChecker& checker, const QueueLookup& lookup,
                         const PlanContext& context, Record record, std::uint64_t slot,
                         Treatment treatment, StreamPlan& stream, std::uint32_t& rings) {
  const Kbin& kbin = context.kbin();
  DmaTotals& totals = context.out().totals;
  switch (treatment) {
    case Treatment::dma_trigger: {
      NEFFLD_ASSIGN(const std::uint32_t block, checker.block_of(record, slot, lookup));
      stream.triggers.push_back(block);
      rings = kbin.queue_sets[kbin.blocks[block].queue_set].num_queues;
      return {};
    }
    case Treatment::dma_rearm: {
      NEFFLD_ASSIGN(const auto queue, checker.queue_of(record, slot, lookup));
      rings = kbin.queue_sets[queue.queue_set].num_queues;
      return {};
    }
    case Treatment::dma_direct2d: {
      NEFFLD_ASSIGN(const DirectTransfer transfer, checker.transfer_of(record, slot));
      ++totals.dge_operations;
      totals.dge_elements += transfer.elements;
      totals.dge_bytes += transfer.source_bytes;
      return {};
    }
    case Treatment::tensor_load:
    case Treatment::tensor_store: {
      NEFFLD_ASSIGN(const Operand operand, checker.tensor_operand(record, slot));
      static_cast<void>(operand);
      return {};
    }
    default:
      return {};
  }
}

Result<void> plan_stream(PlanContext& context, const QueueLookup& lookup, Engine engine) {
  const EngineProgram& program = context.kbin().engine(engine);
  StreamPlan& stream = context.out().streams[static_cast<std::size_t>(engine)];
  stream.slots_in = program.slot_count();
  const RecordChecker checker(context.kbin(), context.arch, engine);
  for (std::uint64_t slot = 0; slot < stream.slots_in; ++slot) {
    const Record record(program.slots.subspan(slot * isa::slot_bytes, isa::slot_bytes));
    NEFFLD_ASSIGN(const Treatment treatment, checker.check(record, slot));
    std::uint32_t rings = 0;
    if (treatment != Treatment::verbatim) {
      NEFFLD_TRY(scan_pseudo(checker, lookup, context, record, slot, treatment, stream, rings));
    }
    stream.main_slots += lowered_slots(treatment, rings);
  }
  stream.slots_out = preamble_slots + stream.main_slots + postamble_slots;
  // Branch offsets inside an image are 32 bits wide, and so is the row offset of the IP map.
  if (stream.slots_out > 0x7FFF'FFFF / isa::slot_bytes) {
    return fail(Status::resource, ErrorClass::resource, {.member = program.bin_member},
                fmt::format("lowered stream has {} slots, expected at most {}", stream.slots_out,
                            0x7FFF'FFFF / isa::slot_bytes));
  }
  return {};
}

}  // namespace

Result<void> plan_streams(PlanContext& context) {
  NEFFLD_ASSIGN(const QueueLookup lookup, QueueLookup::build(context.kbin()));
  for (const Engine engine : all_engines) NEFFLD_TRY(plan_stream(context, lookup, engine));
  return {};
}

}  // namespace neffld
