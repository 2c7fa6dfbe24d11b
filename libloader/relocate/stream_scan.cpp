// SPDX-License-Identifier: MIT
// Scans the instruction streams before any address is known: checks every record, counts lowered
// slots, places bodies and branch targets in the image and collects the triggers (spec 05 A6,
// decisions 5 and 36).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "builders.hpp"
#include "control_flow.hpp"
#include "translator.hpp"

namespace neffld {
namespace {

using isa::Record;
using isa::Treatment;

constexpr std::uint64_t preamble_slots = 1;
constexpr std::uint64_t postamble_slots = 2;
// Branch offsets inside an image are 32 bits wide, and so is the row offset of the IP map.
constexpr std::uint64_t most_slots = 0x7FFF'FFFF / isa::slot_bytes;

/// Tells whether ascending slots lie in disjoint ascending ranges.
class RangeCursor {
 public:
  explicit RangeCursor(std::span<const SlotRange> ranges) : ranges_(ranges) {}
  const SlotRange* at(std::uint32_t slot) {
    while (next_ < ranges_.size() && ranges_[next_].end <= slot) ++next_;
    const bool inside = next_ < ranges_.size() && ranges_[next_].first <= slot;
    return inside ? &ranges_[next_] : nullptr;
  }

 private:
  std::span<const SlotRange> ranges_;
  std::size_t next_ = 0;
};

class Scanner {
 public:
  Scanner(PlanContext& context, const QueueLookup& lookup, Engine engine)
      : context_(context),
        lookup_(lookup),
        engine_(engine),
        slots_(context.kbin().engine(engine).slots),
        checker_(context.kbin(), context.arch, engine),
        stream_(context.out().streams[static_cast<std::size_t>(engine)]) {}

  Result<void> run() {
    NEFFLD_TRY(check_count(slots_.size() / isa::slot_bytes));
    stream_.slots_in = slots_.size() / isa::slot_bytes;
    stream_.first_collective = context_.out().collectives + 1;
    NEFFLD_ASSIGN(flow_, read_control_flow(checker_, slots_));
    stream_.bodies = std::move(flow_.bodies);
    last_trigger_.resize(stream_.bodies.size());
    stream_.calls = std::move(flow_.calls);
    std::uint64_t image_slot = preamble_slots;
    for (std::size_t body = 0; body < stream_.bodies.size(); ++body) {
      NEFFLD_TRY(scan_body(body, image_slot));
      image_slot += stream_.bodies[body].image_slots;
      if (body == 0) image_slot += postamble_slots;
      NEFFLD_TRY(check_count(image_slot));
    }
    stream_.main_slots = stream_.bodies[0].image_slots;
    stream_.slots_out = image_slot;
    place_jumps();
    find_skipped_calls();
    find_early_exit();
    warn();
    return {};
  }

 private:
  Result<void> check_count(std::uint64_t slots) const {
    if (slots <= most_slots) return {};
    return fail(Status::resource, ErrorClass::resource,
                {.member = context_.kbin().engine(engine_).bin_member},
                fmt::format("lowered stream has {} slots, expected at most {}", slots, most_slots));
  }

  Record record_at(std::uint32_t slot) const {
    return Record(slots_.subspan(std::size_t{slot} * isa::slot_bytes, isa::slot_bytes));
  }

  Result<void> scan_body(std::size_t number, std::uint64_t image_slot) {
    BodyPlan& body = stream_.bodies[number];
    body.image_slot = static_cast<std::uint32_t>(image_slot);
    body.first_trigger = static_cast<std::uint32_t>(stream_.triggers.size());
    if (place_.empty() && !flow_.jumps.empty()) place_.resize(stream_.slots_in);
    std::uint64_t lowered = 0;
    for (std::uint32_t slot = body.first_slot; slot < body.end_slot; ++slot) {
      if (!place_.empty()) place_[slot] = static_cast<std::uint32_t>(image_slot + lowered);
      const Record record = record_at(slot);
      if (checker_.is_plain(record)) {
        ++lowered;
        continue;
      }
      NEFFLD_ASSIGN(const Treatment treatment, checker_.check(record, slot));
      if (treatment == Treatment::verbatim) {
        ++lowered;
        continue;
      }
      std::uint32_t rings = 0;
      NEFFLD_TRY(scan_pseudo(body, record, slot, treatment, rings));
      lowered += lowered_slots(treatment, rings);
      NEFFLD_TRY(check_count(image_slot + lowered));
    }
    body.image_slots = static_cast<std::uint32_t>(lowered);
    body.end_trigger = static_cast<std::uint32_t>(stream_.triggers.size());
    return {};
  }

  /// Adds what one record contributes to the plan; `rings` is set for C1 and C2.
  Result<void> scan_pseudo(const BodyPlan& body, Record record, std::uint32_t slot,
                           Treatment treatment, std::uint32_t& rings) {
    const Kbin& kbin = context_.kbin();
    switch (treatment) {
      case Treatment::dma_trigger: {
        NEFFLD_TRY(check_runs_once(body, record, slot));
        NEFFLD_ASSIGN(const auto queue, checker_.queue_of(record, slot, lookup_));
        rings = kbin.queue_sets[queue.queue_set].num_queues;
        if (rearmed_.contains(queue.queue_set) && !behind_rearm_) behind_rearm_ = slot;
        if (const SlotRange* range = skipped().at(slot)) note_skipped(*range);
        last_trigger_[static_cast<std::size_t>(&body - stream_.bodies.data())] = slot;
        if (is_raw_trigger(record)) return {};  // names a count and no block
        NEFFLD_ASSIGN(const std::uint32_t block,
                      checker_.block_of(record, slot, queue, body.name, lookup_));
        stream_.triggers.push_back(block);
        return {};
      }
      case Treatment::dma_rearm: {
        NEFFLD_ASSIGN(const auto queue, checker_.queue_of(record, slot, lookup_));
        rings = kbin.queue_sets[queue.queue_set].num_queues;
        rearmed_.insert(queue.queue_set);
        return {};
      }
      case Treatment::dma_direct2d:
        NEFFLD_TRY(check_runs_once(body, record, slot));
        return scan_transfer(record, slot);
      case Treatment::tensor_load:
      case Treatment::tensor_store:
      case Treatment::read_var_addr: {
        NEFFLD_ASSIGN(const Operand operand, checker_.tensor_operand(record, slot));
        static_cast<void>(operand);
        return {};
      }
      case Treatment::collective:
        ++context_.out().collectives;
        return checker_.check_collective(record, slot);
      case Treatment::extension:
        if (slot > body.first_slot && record_at(slot - 1).opcode() == isa::op_pseudo_direct2d) {
          return checker_.check_extension(record, slot);
        }
        return checker_.refuse(slot, "PSEUDO_EXTENSION does not follow a PSEUDO_DMA_DIRECT2D");
      case Treatment::function_call:
        stream_.calls[next_call_++].next_trigger =
            static_cast<std::uint32_t>(stream_.triggers.size());
        return {};
      default:
        return {};
    }
  }

  Result<void> scan_transfer(Record record, std::uint32_t slot) {
    NEFFLD_ASSIGN(const DirectTransfer transfer, checker_.transfer_of(record, slot));
    DmaTotals& totals = context_.out().totals;
    ++totals.dge_operations;
    totals.dge_elements += transfer.elements;
    totals.dge_bytes += transfer.source_bytes;
    return {};
  }

  /// A ring holds one copy of a block for each trigger, so a trigger must run exactly once; the
  /// same goes for D4, whose semaphores take turns (decision 36).
  Result<void> check_runs_once(const BodyPlan& body, Record record, std::uint32_t slot) {
    const SlotRange* loop = loops().at(slot);
    if (!loop && body.runs_once) return {};
    const std::string label = opcode_label(context_.arch.arch, record.opcode());
    if (loop) {
      return checker_.refuse(slot, fmt::format("{} lies in the loop of the branch at slot {}, "
                                               "expected it outside of loops",
                                               label, loop->branch));
    }
    const std::size_t number = static_cast<std::size_t>(&body - stream_.bodies.data());
    if (flow_.call_sites[number] == 1) {
      return checker_.refuse(slot,
                             fmt::format("{} lies in function '{}', whose caller may run more "
                                         "than once or never",
                                         label, body.name));
    }
    return checker_.refuse(slot, fmt::format("{} lies in function '{}' with {} call sites, "
                                             "expected 1",
                                             label, body.name, flow_.call_sites[number]));
  }

  RangeCursor& loops() {
    if (!loops_) loops_.emplace(flow_.loops);
    return *loops_;
  }
  RangeCursor& skipped() {
    if (!skipped_) skipped_.emplace(flow_.skipped);
    return *skipped_;
  }
  void note_skipped(const SlotRange& range) {
    if (!skipping_branch_) skipping_branch_ = range.branch;
  }

  /// The body a call stands in.
  std::vector<std::uint32_t> callers() const {
    std::vector<std::uint32_t> caller(stream_.calls.size());
    for (std::uint32_t body = 0; body < stream_.bodies.size(); ++body) {
      const BodyPlan& plan = stream_.bodies[body];
      std::fill(caller.begin() + plan.first_call, caller.begin() + plan.end_call, body);
    }
    return caller;
  }

  /// A call of a function that triggers is a trigger too. What triggers runs once, so it has one
  /// call site, and so have its callers up to MAIN.
  void find_skipped_calls() {
    if (stream_.calls.empty()) return;
    const std::vector<std::uint32_t> caller = callers();
    std::vector<std::optional<std::uint32_t>> site(stream_.bodies.size());
    for (std::uint32_t i = 0; i < stream_.calls.size(); ++i) site[stream_.calls[i].callee] = i;
    std::vector<bool> triggers(stream_.calls.size());
    for (std::size_t body = 1; body < stream_.bodies.size(); ++body) {
      if (!last_trigger_[body]) continue;
      for (std::size_t at = body; at != 0 && site[at] && !triggers[*site[at]];) {
        const std::uint32_t call = *site[at];
        triggers[call] = true;
        at = caller[call];
        last_trigger_[at] = std::max(last_trigger_[at].value_or(0), stream_.calls[call].slot);
      }
    }
    RangeCursor skipped(flow_.skipped);
    for (std::size_t i = 0; i < stream_.calls.size(); ++i) {
      const SlotRange* range = skipped.at(stream_.calls[i].slot);
      if (range && triggers[i] && (!skipping_branch_ || range->branch < *skipping_branch_)) {
        skipping_branch_ = range->branch;
      }
    }
  }

  bool triggers_behind(std::size_t body, std::uint32_t slot) const {
    return last_trigger_[body] && *last_trigger_[body] > slot;
  }

  /// The first exit with triggers behind it: in its own body, or where a caller goes on.
  void find_early_exit() {
    const bool exits =
        std::any_of(flow_.jumps.begin(), flow_.jumps.end(),
                    [](const SourceJump& jump) { return jump.target == to_postamble; });
    if (!exits) return;
    const std::vector<std::uint32_t> caller = callers();
    std::vector<bool> behind(stream_.bodies.size());  // triggers follow the return of that function
    std::vector<std::uint32_t> open;
    const auto mark = [&](std::uint32_t callee) {
      if (behind[callee]) return;
      behind[callee] = true;
      open.push_back(callee);
    };
    for (std::size_t i = 0; i < stream_.calls.size(); ++i) {
      if (triggers_behind(caller[i], stream_.calls[i].slot)) mark(stream_.calls[i].callee);
    }
    while (!open.empty()) {
      const BodyPlan& body = stream_.bodies[open.back()];
      open.pop_back();
      for (std::uint32_t i = body.first_call; i < body.end_call; ++i) mark(stream_.calls[i].callee);
    }
    std::size_t body = 0;
    for (const SourceJump& jump : flow_.jumps) {
      while (jump.slot >= stream_.bodies[body].end_slot) ++body;
      if (jump.target != to_postamble || !(behind[body] || triggers_behind(body, jump.slot)))
        continue;
      early_exit_ = jump.slot;
      return;
    }
  }

  void place_jumps() {
    const BodyPlan& main = stream_.bodies[0];
    const std::uint32_t postamble = main.image_slot + main.image_slots;
    for (const SourceJump& jump : flow_.jumps) {
      const bool exits = jump.target == to_postamble;
      stream_.jumps.push_back({jump.slot, exits ? postamble : place_[jump.target]});
    }
  }

  void warn() {
    auto& warnings = context_.out().warnings;
    const std::string& member = context_.kbin().engine(engine_).bin_member;
    if (skipping_branch_) {
      warnings.push_back(
          fmt::format("{}: slot {} branches over DMA triggers; when it is taken, "
                      "later triggers of their queues move the blocks left over",
                      member, *skipping_branch_));
    }
    if (early_exit_) {
      warnings.push_back(
          fmt::format("{}: slot {} ends the execution; when it is reached, the DMA triggers behind "
                      "it do not run",
                      member, *early_exit_));
    }
    if (behind_rearm_) {
      warnings.push_back(
          fmt::format("{}: slot {} triggers a queue behind its rearm; the rings start again, so it "
                      "moves the blocks of earlier triggers",
                      member, *behind_rearm_));
    }
    if (!flow_.computed.empty()) {
      warnings.push_back(
          fmt::format("{}: slot {} branches to a target in a register, which is not "
                      "translated",
                      member, flow_.computed.front()));
    }
  }

  PlanContext& context_;
  const QueueLookup& lookup_;
  Engine engine_;
  Bytes slots_;
  RecordChecker checker_;
  StreamPlan& stream_;
  ControlFlow flow_;
  std::vector<std::uint32_t> place_;  ///< image slot of each source slot, if anything branches
  std::optional<RangeCursor> loops_, skipped_;
  std::optional<std::uint32_t> skipping_branch_, early_exit_;
  std::vector<std::optional<std::uint32_t>>
      last_trigger_;                 ///< by body; a call that triggers counts
  std::set<std::uint32_t> rearmed_;  ///< queue sets a C2 reset, in program order so far
  std::optional<std::uint32_t> behind_rearm_;
  std::size_t next_call_ = 0;
};

}  // namespace

Result<void> plan_streams(PlanContext& context) {
  NEFFLD_ASSIGN(const QueueLookup lookup, QueueLookup::build(context.kbin()));
  for (const Engine engine : all_engines) {
    NEFFLD_TRY(Scanner(context, lookup, engine).run());
  }
  return {};
}

std::vector<std::uint32_t> trigger_order(const StreamPlan& stream) {
  if (stream.bodies.size() <= 1) return stream.triggers;
  struct Frame {
    const BodyPlan* body;
    std::uint32_t trigger, call;  ///< the next of each
  };
  std::vector<std::uint32_t> order;
  order.reserve(stream.triggers.size());
  const auto enter = [&](const BodyPlan& body) {
    return Frame{&body, body.first_trigger, body.first_call};
  };
  std::vector<Frame> frames = {enter(stream.bodies[0])};
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const bool has_call = frame.call < frame.body->end_call;
    const std::uint32_t stop =
        has_call ? stream.calls[frame.call].next_trigger : frame.body->end_trigger;
    for (; frame.trigger < stop; ++frame.trigger) order.push_back(stream.triggers[frame.trigger]);
    if (!has_call) {
      frames.pop_back();
      continue;
    }
    // What may run more than once has no triggers, and neither has what it calls.
    const BodyPlan& callee = stream.bodies[stream.calls[frame.call++].callee];
    if (callee.runs_once) frames.push_back(enter(callee));
  }
  return order;
}

}  // namespace neffld
