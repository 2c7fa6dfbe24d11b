// SPDX-License-Identifier: MIT
#include "token_engine.hpp"

#include <fmt/format.h>

#include "neffld/disassembler.hpp"

namespace neffld {
namespace {

using isa::Record;

// Opcodes whose effect on synchronisation the model knows (spec 05 A2, A5).
enum Op : std::uint8_t {
  event_semaphore = 0xA0,
  halt = 0xA1,
  write = 0xA5,
  move_registers = 0xA7,
  alu = 0xA8,
  compare_branch = 0xA9,
  tensor_load = 0xAA,
  range_clear = 0xB0,
  poll_semaphore = 0xB3,
  test_event_semaphore = 0xB4,
  dma_memcpy = 0xB8,
  dma_indirect = 0xBB,
  dma_transpose = 0xBD,
  dma_gather_transpose = 0xF1,
};

constexpr std::uint8_t dtype_i32 = 8;
constexpr std::uint8_t on_completion = 0x10;  // update modes of A1
constexpr std::uint8_t source_immediate = 1;

enum TargetMode : std::uint8_t {
  target_register = 1,
  relative_immediate = 3,
  relative_register = 4
};

bool starts_transfer(std::uint8_t opcode) {
  return opcode == dma_memcpy || opcode == dma_indirect || opcode == dma_transpose ||
         opcode == dma_gather_transpose;
}

bool compare(std::uint8_t op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case 1:
      return a < b;
    case 2:
      return a <= b;
    case 3:
      return a == b;
    case 4:
      return a != b;
    case 5:
      return a >= b;
    default:
      return a > b;
  }
}

}  // namespace

Result<TokenEngine> TokenEngine::make(const Locator& locator, const DeviceMemoryView& memory,
                                      std::uint32_t subgraph, Engine engine) {
  TokenEngine made(locator, subgraph, engine);
  const Layout& layout = locator.layout();
  const Layout::Stream& stream = layout.subgraphs[subgraph].stream(engine);
  if (!stream.section || stream.slots_out == 0) {
    made.halted_ = true;  // nothing to run
    return made;
  }
  made.base_ = layout.sections[*stream.section].pa;
  made.image_.resize(std::size_t{stream.slots_out} * isa::slot_bytes);
  NEFFLD_TRY(memory.read(made.base_, made.image_));
  return made;
}

std::array<TokenEngine::Wait, 2> TokenEngine::waits_of(Record record) {
  std::array<Wait, 2> waits = {Wait{record.u8(isa::at_wait_mode), record.u8(isa::at_wait_index),
                                    record.u32(isa::at_semaphore_value)}};
  if (record.opcode() == event_semaphore) {
    waits[1] = {record.u8(isa::at_extended_wait_mode), record.u8(0x21), record.u32(0x24)};
  }
  return waits;
}

std::array<TokenEngine::Update, 2> TokenEngine::updates_of(Record record) {
  std::array<Update, 2> updates = {Update{record.u8(isa::at_update_mode),
                                          record.u8(isa::at_update_index),
                                          record.u32(isa::at_semaphore_value)}};
  if (record.opcode() == event_semaphore) {
    updates[1] = {record.u8(isa::at_extended_update_mode), record.u8(0x23), record.u32(0x28)};
  }
  return updates;
}

bool TokenEngine::holds(const Wait& wait, const TokenCore& core, bool& known) {
  const std::uint32_t semaphore = core.semaphores[wait.index];
  const bool event = core.events[wait.index] != 0;
  switch (wait.mode) {
    case 0:
      return true;
    case 1:
      return semaphore == wait.value;
    case 2:
      return semaphore < wait.value;
    case 3:
      return semaphore <= wait.value;
    case 4:
      return semaphore > wait.value;
    case 5:
      return semaphore >= wait.value;
    case 6:
    case 7:
      return event;
    case 14:
    case 15:
      return !event;
    default:
      known = false;
      return false;
  }
}

bool TokenEngine::apply(const Update& update, TokenCore& core) {
  std::uint32_t& semaphore = core.semaphores[update.index];
  switch (update.mode & ~on_completion) {
    case 0:
      return update.mode == 0;
    case 1:
      core.events[update.index] = 1;
      return true;
    case 2:
      core.events[update.index] = 0;
      return true;
    case 3:
      ++semaphore;
      return true;
    case 4:
      --semaphore;
      return true;
    case 5:
      semaphore += update.value;
      return true;
    case 7:
      semaphore -= update.value;
      return true;
    case 9:
      semaphore = update.value;
      return true;
    default:
      return false;  // register forms
  }
}

TokenEngine::Step TokenEngine::fail_with(TokenResult::Outcome outcome, std::string text) {
  trouble_outcome_ = outcome;
  trouble_ = std::move(text);
  return Step::trouble;
}

Result<TokenEngine::Step> TokenEngine::step(TokenCores& cores, TokenRings& rings,
                                            TokenResult& result) {
  if (halted_) return Step::waits;
  const Record record(record_at(pc_));
  TokenCore& mine = cores[core()];
  bool known = true, all_hold = true;
  for (const Wait& wait : waits_of(record)) all_hold = holds(wait, mine, known) && all_hold;
  if (!known) {
    return fail_with(TokenResult::Outcome::not_modelled, "waits in a mode that is not modelled");
  }
  if (!all_hold) return Step::waits;
  started_ = true;
  for (const Wait& wait : waits_of(record)) {
    if (wait.mode == 7) mine.events[wait.index] = 0;
    if (wait.mode == 15) mine.events[wait.index] = 1;
  }
  for (const Update& update : updates_of(record)) {
    if (!apply(update, mine)) {
      return fail_with(TokenResult::Outcome::not_modelled,
                       fmt::format("updates in mode {}, which is not modelled", update.mode));
    }
  }
  return execute(record, cores, rings, result);
}

Result<TokenEngine::Step> TokenEngine::execute(Record record, TokenCores& cores, TokenRings& rings,
                                               TokenResult& result) {
  const std::uint8_t opcode = record.opcode();
  switch (opcode) {
    case halt:
      halted_ = true;
      return Step::moved;
    case write: {
      const Place place = locator_->locate(record.u64(isa::at_write_address));
      const std::uint32_t value = record.u32(isa::at_write_value);
      if (place.kind == Place::Kind::queue_register) {
        NEFFLD_ASSIGN(std::string wrong, rings.write(place, value));
        if (!wrong.empty()) return fail_with(TokenResult::Outcome::fault, std::move(wrong));
      } else {
        write_event_unit(cores, place, value);
      }
      break;
    }
    case move_registers:
      move(record);
      break;
    case alu:
      compute(record);
      break;
    case tensor_load:
      forget_loaded(record);
      break;
    case compare_branch:
      return branch(record);
    case range_clear:
    case poll_semaphore:
    case test_event_semaphore:
      return fail_with(TokenResult::Outcome::not_modelled,
                       "its payload is not known, so neither is what it does to semaphores");
    default:
      if (!starts_transfer(opcode)) break;
      cores[core()].semaphores[record.u8(isa::at_dma_semaphore)] += record.u8(0x0E);
      ++result.transfers;
      break;
  }
  return jump(pc_ + isa::slot_bytes);
}

TokenEngine::Step TokenEngine::jump(std::uint64_t offset) {
  if (offset >= image_.size() || offset % isa::slot_bytes != 0) {
    return fail_with(
        TokenResult::Outcome::fault,
        fmt::format("goes on at byte 0x{:x} of an image of 0x{:x}", offset, image_.size()));
  }
  pc_ = offset;
  return Step::moved;
}

std::optional<bool> TokenEngine::taken(Record record) const {
  const std::uint8_t op = record.u8(0x0C);
  if (op == 0) return true;
  if (op > 12) return std::nullopt;
  const auto left = registers_[record.u8(0x20)];
  const auto right = op <= 6 ? std::optional(record.u32(0x10)) : registers_[record.u8(0x21)];
  if (!left || !right) return std::nullopt;
  const auto widen = [&](std::uint32_t value) -> std::int64_t {
    return record.u8(0x0D) == dtype_i32 ? static_cast<std::int32_t>(value) : std::int64_t{value};
  };
  return compare(op <= 6 ? op : static_cast<std::uint8_t>(op - 6), widen(*left), widen(*right));
}

TokenEngine::Step TokenEngine::branch(Record record) {
  const auto take = taken(record);
  if (!take) {
    return fail_with(TokenResult::Outcome::not_modelled,
                     "compares a register whose value comes from memory");
  }
  if (!*take) return jump(pc_ + isa::slot_bytes);
  const auto low = registers_[record.u8(0x22)], high = registers_[record.u8(0x23)];
  switch (record.u8(isa::at_branch_target_mode)) {
    case relative_immediate:
      return jump(pc_ + static_cast<std::uint64_t>(
                            static_cast<std::int32_t>(record.u32(isa::at_branch_immediate))));
    case target_register:
      if (low && high) return jump((*low | std::uint64_t{*high} << 32) - base_);
      break;
    case relative_register:
      if (low) return jump(pc_ + static_cast<std::uint64_t>(static_cast<std::int32_t>(*low)));
      break;
    default:
      break;
  }
  return fail_with(TokenResult::Outcome::not_modelled, "branches to a place that is not known");
}

void TokenEngine::move(Record record) {
  const std::uint8_t count = record.u8(0x0C);
  for (std::uint8_t i = 0; i < count && i < 8; ++i) {
    const std::uint8_t target = record.u8(0x18u + i);
    registers_[target] = record.u8(0x0E) == source_immediate
                             ? std::optional(record.u32(0x20u + 4u * i))
                             : registers_[record.u8(0x10u + i)];
  }
}

void TokenEngine::compute(Record record) {
  const auto source = registers_[record.u8(0x10)];
  std::optional<std::uint32_t> value;
  if (source && record.u8(0x0E) == source_immediate) {
    const std::uint32_t immediate = record.u32(0x18);
    switch (record.u8(0x0C)) {
      case 4:
        value = *source + immediate;
        break;
      case 5:
        value = *source - immediate;
        break;
      case 6:
        value = *source * immediate;
        break;
      default:
        break;
    }
  }
  registers_[record.u8(0x14)] = value;
}

void TokenEngine::forget_loaded(Record record) {
  const unsigned count = std::min(32u, unsigned{record.u8(0x0E)} * record.u8(0x0F));
  for (unsigned i = 0; i < count; ++i) registers_[record.u8(0x20 + i)].reset();
}

StoppedEngine TokenEngine::where() const {
  StoppedEngine stopped;
  stopped.subgraph = subgraph_;
  stopped.engine = engine_;
  stopped.image_slot = pc_ / isa::slot_bytes;
  const Layout& layout = locator_->layout();
  stopped.source_slot =
      source_slot(layout.subgraphs[subgraph_].stream(engine_), stopped.image_slot);
  if (!image_.empty()) stopped.record = mnemonic(layout.arch, record_at(pc_));
  return stopped;
}

StoppedEngine TokenEngine::waiting(const TokenCores& cores) const {
  constexpr std::string_view comparisons[] = {"", "==", "<", "<=", ">", ">="};
  StoppedEngine stopped = where();
  const TokenCore& mine = cores[core()];
  for (const Wait& wait : waits_of(Record(record_at(pc_)))) {
    bool known = true;
    if (holds(wait, mine, known)) continue;
    stopped.event = wait.mode > 5;
    stopped.index = wait.index;
    stopped.wanted = wait.value;
    stopped.value = stopped.event ? mine.events[wait.index] : mine.semaphores[wait.index];
    stopped.reason = stopped.event ? fmt::format("waits for event {} to be {}, is {}", wait.index,
                                                 wait.mode < 14 ? "set" : "clear", stopped.value)
                                   : fmt::format("waits for semaphore {} {} {}, is {}", wait.index,
                                                 comparisons[wait.mode], wait.value, stopped.value);
    break;
  }
  return stopped;
}

void TokenEngine::for_each_left(
    const std::function<void(std::uint32_t, std::uint32_t)>& each) const {
  for (std::uint64_t at = pc_; at + isa::slot_bytes <= image_.size(); at += isa::slot_bytes) {
    const Record record(record_at(at));
    for (const Update& update : updates_of(record)) {
      if (isa::updates_semaphore(update.mode)) each(core(), update.index);
    }
    if (starts_transfer(record.opcode())) each(core(), record.u8(isa::at_dma_semaphore));
  }
}

}  // namespace neffld
