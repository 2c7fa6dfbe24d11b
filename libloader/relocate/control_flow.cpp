// SPDX-License-Identifier: MIT
#include "control_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace neffld {
namespace {

using isa::Record;
using isa::Treatment;

constexpr std::uint8_t inst_exit = 1;  // sub-opcode of DF
constexpr std::uint32_t no_args_table = 0xFFFF'FFFF;

class Reader {
 public:
  Reader(const RecordChecker& checker, Bytes slots)
      : checker_(checker),
        slots_(slots),
        count_(static_cast<std::uint32_t>(slots.size() / isa::slot_bytes)) {}

  Result<ControlFlow> run() {
    flow_.bodies.emplace_back();
    functions_.emplace("", 0);
    for (std::uint32_t slot = 0; slot < count_; ++slot) {
      const Record record = record_at(slot);
      const Treatment treatment = checker_.treatment_of(record);
      if (treatment != Treatment::verbatim) NEFFLD_TRY(read(record, slot, treatment));
    }
    close_body(count_);
    NEFFLD_TRY(resolve_calls());
    NEFFLD_TRY(resolve_branches());
    for (std::size_t body = 1; body < flow_.bodies.size(); ++body) {
      NEFFLD_TRY(check_end(flow_.bodies[body]));
    }
    merge(flow_.loops);
    merge(flow_.skipped);
    find_bodies_that_run_once();
    return std::move(flow_);
  }

 private:
  /// A branch before labels are known.
  struct Branch {
    std::uint32_t slot, body;
    std::uint8_t mode;
    std::int64_t value;  ///< byte offset or label id
    bool hint;           ///< takes no branch itself
  };
  struct Label {
    std::uint32_t slot;
    bool unique;
  };

  Record record_at(std::uint32_t slot) const {
    return Record(slots_.subspan(std::size_t{slot} * isa::slot_bytes, isa::slot_bytes));
  }
  std::uint32_t body() const { return static_cast<std::uint32_t>(flow_.bodies.size() - 1); }

  Result<void> read(Record record, std::uint32_t slot, Treatment treatment) {
    switch (treatment) {
      case Treatment::branch_label: {
        const std::uint64_t key = label_key(body(), record.u32(isa::at_label));
        const auto [label, added] = labels_.emplace(key, Label{slot, true});
        if (!added) label->second.unique = false;
        return {};
      }
      case Treatment::branch:
        return read_branch(record, slot, false);
      case Treatment::branch_hint:
        return read_branch(record, slot, true);
      case Treatment::function_begin:
        return begin_function(record, slot);
      case Treatment::function_return:
        if (body() != 0) return {};
        return checker_.refuse(slot, "PSEUDO_FUNCTION_RETURN stands outside a function");
      case Treatment::function_call:
        return read_call(record, slot);
      case Treatment::inst:
        if (record.u8(isa::at_inst_code) == inst_exit) {
          flow_.jumps.push_back({slot, to_postamble});
          return {};
        }
        return checker_.refuse(slot,
                               fmt::format("PSEUDO_INST has code {}, expected 1 (exit execution)",
                                           record.u8(isa::at_inst_code)),
                               ErrorClass::unsupported);
      default:
        return {};
    }
  }

  Result<void> read_branch(Record record, std::uint32_t slot, bool hint) {
    const std::uint8_t mode = record.u8(isa::at_branch_target_mode);
    if (!hint && record.u8(isa::at_branch_compare) > isa::last_compare) {
      return checker_.refuse(slot,
                             fmt::format("compare operation is {}, expected 0 to {}",
                                         record.u8(isa::at_branch_compare), isa::last_compare));
    }
    if (mode == isa::target_label) {
      const std::uint32_t label = record.u32(isa::at_branch_immediate);
      branches_.push_back({slot, body(), mode, label, hint});
      return {};
    }
    if (mode == isa::target_relative) {
      const std::uint64_t raw = record.u64(isa::at_branch_immediate);
      const auto offset = static_cast<std::int32_t>(raw);
      const auto extended = static_cast<std::uint64_t>(std::int64_t{offset});
      if (raw >> 32 != 0 && raw != extended) {
        return checker_.refuse(slot, fmt::format("Invalid branch relative offset 0x{:x}. Offset "
                                                 "must be fit within 32 bits",
                                                 raw));
      }
      branches_.push_back({slot, body(), mode, offset, hint});
      return {};
    }
    const bool in_register = mode == isa::target_register || mode == isa::target_relative_register;
    if (in_register && !hint) {
      flow_.computed.push_back(slot);
      return {};
    }
    return checker_.refuse(slot, fmt::format("branch target mode is {}, expected {}", mode,
                                             hint ? "2 or 3" : "1 to 4"));
  }

  Result<void> begin_function(Record record, std::uint32_t slot) {
    const std::string_view name =
        name_field(record, isa::at_function_name, isa::function_name_bytes);
    if (name.empty()) return checker_.refuse(slot, "the function has no name");
    if (record.u8(isa::at_reset_semaphores) != 0) {
      return checker_.refuse(slot,
                             fmt::format("function '{}' resets semaphores when it returns, which "
                                         "cannot be lowered",
                                         name),
                             ErrorClass::unsupported);
    }
    close_body(slot);
    BodyPlan next;
    next.name = name;
    next.first_slot = slot;
    next.return_low = record.u8(isa::at_return_register_low);
    next.return_high = record.u8(isa::at_return_register_high);
    if (next.return_low == next.return_high) {
      return checker_.refuse(slot, fmt::format("function '{}' has register {} for both halves of "
                                               "its return address, expected two registers",
                                               name, next.return_low));
    }
    next.first_call = static_cast<std::uint32_t>(flow_.calls.size());
    const auto number = static_cast<std::uint32_t>(flow_.bodies.size());
    if (!functions_.emplace(name, number).second) {
      return checker_.refuse(slot, fmt::format("function '{}' occurs twice", name));
    }
    flow_.bodies.push_back(std::move(next));
    return {};
  }

  void close_body(std::uint32_t slot) {
    flow_.bodies.back().end_slot = slot;
    flow_.bodies.back().end_call = static_cast<std::uint32_t>(flow_.calls.size());
  }

  Result<void> read_call(Record record, std::uint32_t slot) {
    const std::uint32_t table = record.u32(isa::at_args_table);
    if (table != 0 && table != no_args_table) {
      return checker_.refuse(slot,
                             fmt::format("the call has argument table {}, expected none (0 or "
                                         "0xffffffff)",
                                         table),
                             ErrorClass::unsupported);
    }
    flow_.calls.push_back({slot, 0, 0});  // the callee may come later
    return {};
  }

  Result<void> resolve_calls() {
    flow_.call_sites.assign(flow_.bodies.size(), 0);
    for (CallPlan& call : flow_.calls) {
      const std::string_view name =
          name_field(record_at(call.slot), isa::at_function_name, isa::function_name_bytes);
      const auto found = functions_.find(name);
      if (found == functions_.end() || found->second == 0) {
        return checker_.refuse(call.slot,
                               fmt::format("calls function '{}', which does not exist", name));
      }
      call.callee = found->second;
      ++flow_.call_sites[call.callee];
    }
    return {};
  }

  Result<void> resolve_branches() {
    const std::size_t exits = flow_.jumps.size();
    for (const Branch& branch : branches_) {
      NEFFLD_ASSIGN(const std::uint32_t target, target_of(branch));
      flow_.jumps.push_back({branch.slot, target});
      if (branch.hint) continue;
      if (target <= branch.slot) {
        flow_.loops.push_back({target, branch.slot + 1, branch.slot});
      } else {
        flow_.skipped.push_back({branch.slot + 1, target, branch.slot});
      }
    }
    const auto by_slot = [](const SourceJump& a, const SourceJump& b) { return a.slot < b.slot; };
    std::inplace_merge(flow_.jumps.begin(),
                       flow_.jumps.begin() + static_cast<std::ptrdiff_t>(exits), flow_.jumps.end(),
                       by_slot);
    return {};
  }

  /// Source slot a branch goes to.
  Result<std::uint32_t> target_of(const Branch& branch) const {
    const BodyPlan& inside = flow_.bodies[branch.body];
    std::int64_t target = 0;
    if (branch.mode == isa::target_label) {
      const auto id = static_cast<std::uint32_t>(branch.value);
      const auto label = labels_.find(label_key(branch.body, id));
      if (label == labels_.end()) {
        return checker_.refuse(branch.slot, fmt::format("branches to label {}, which {} does not "
                                                        "have",
                                                        id, body_name(inside)));
      }
      if (!label->second.unique) {
        return checker_.refuse(branch.slot, fmt::format("branches to label {}, which {} has more "
                                                        "than once",
                                                        id, body_name(inside)));
      }
      target = label->second.slot;
    } else {
      if (branch.value % static_cast<std::int64_t>(isa::slot_bytes) != 0) {
        return checker_.refuse(branch.slot, fmt::format("branch offset is {}, expected a multiple "
                                                        "of {}",
                                                        branch.value, isa::slot_bytes));
      }
      target = branch.slot + branch.value / static_cast<std::int64_t>(isa::slot_bytes);
    }
    if (target < inside.first_slot || target >= inside.end_slot) {
      return checker_.refuse(
          branch.slot, fmt::format("branches to slot {}, expected {} to {} inside {}", target,
                                   inside.first_slot, inside.end_slot - 1, body_name(inside)));
    }
    return static_cast<std::uint32_t>(target);
  }

  /// The last record of a function must not run on into the next one.
  Result<void> check_end(const BodyPlan& body) const {
    const std::uint32_t last = body.end_slot - 1;
    const Record record = record_at(last);
    const isa::Opcode& opcode = isa::opcode_of(checker_.arch().arch, record.opcode());
    const bool ends =
        opcode.treatment == Treatment::function_return || opcode.treatment == Treatment::inst ||
        (opcode.treatment == Treatment::branch && record.u8(isa::at_branch_compare) == 0) ||
        record.opcode() == isa::op_halt;
    if (ends) return {};
    return checker_.refuse(last, fmt::format("{} ends with {}, expected a return, an exit, a halt "
                                             "or a branch that is always taken",
                                             body_name(body), opcode.name));
  }

  /// Makes ranges disjoint and ascending; the first branch of overlapping ones stands for all.
  static void merge(std::vector<SlotRange>& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const SlotRange& a, const SlotRange& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (const SlotRange& range : ranges) {
      if (kept > 0 && range.first < ranges[kept - 1].end) {
        ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
      } else {
        ranges[kept++] = range;
      }
    }
    ranges.resize(kept);
  }

  bool in_loop(std::uint32_t slot) const {
    const auto after =
        std::upper_bound(flow_.loops.begin(), flow_.loops.end(), slot,
                         [](std::uint32_t s, const SlotRange& range) { return s < range.first; });
    return after != flow_.loops.begin() && slot < std::prev(after)->end;
  }

  /// MAIN runs once; so does what has one call site, not in a loop, in a body that runs once.
  void find_bodies_that_run_once() {
    std::vector<std::uint32_t> open = {0};
    flow_.bodies[0].runs_once = true;
    while (!open.empty()) {
      const BodyPlan& caller = flow_.bodies[open.back()];
      open.pop_back();
      for (std::uint32_t i = caller.first_call; i < caller.end_call; ++i) {
        const CallPlan& call = flow_.calls[i];
        if (flow_.call_sites[call.callee] != 1 || in_loop(call.slot)) continue;
        flow_.bodies[call.callee].runs_once = true;
        open.push_back(call.callee);
      }
    }
  }

  static std::uint64_t label_key(std::uint32_t body, std::uint32_t id) {
    return std::uint64_t{body} << 32 | id;
  }
  static std::string body_name(const BodyPlan& body) {
    return body.name.empty() ? std::string("MAIN") : fmt::format("function '{}'", body.name);
  }

  const RecordChecker& checker_;
  Bytes slots_;
  std::uint32_t count_;
  ControlFlow flow_;
  std::unordered_map<std::string_view, std::uint32_t> functions_;  ///< names point into the stream
  std::map<std::uint64_t, Label> labels_;  ///< ordered: a file chooses the ids (no collisions)
  std::vector<Branch> branches_;
};

}  // namespace

Result<ControlFlow> read_control_flow(const RecordChecker& checker, Bytes slots) {
  return Reader(checker, slots).run();
}

}  // namespace neffld
