// SPDX-License-Identifier: MIT
#include "token_engine.hpp"

#include <fmt/format.h>

#include "neffld/disassembler.hpp"

namespace neffld {
namespace {

using isa::Record;

bool starts_transfer(std::uint8_t opcode) {
  return opcode == NEURON_OP_DMA_MEMCPY || opcode == NEURON_OP_DMA_INDIRECT ||
         opcode == NEURON_OP_DMA_TRANSPOSE || opcode == NEURON_OP_DMA_GATHER_TRANSPOSE;
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

std::array<neuron_sync, 2> TokenEngine::waits_of(Record record) {
  const std::uint8_t* bytes = record.bytes().data();
  return {neuron_wait_of(bytes, 0), neuron_wait_of(bytes, 1)};
}

std::array<neuron_sync, 2> TokenEngine::updates_of(Record record) {
  const std::uint8_t* bytes = record.bytes().data();
  return {neuron_update_of(bytes, 0), neuron_update_of(bytes, 1)};
}

bool TokenEngine::holds(const neuron_sync& wait, const TokenCore& core, bool& known) {
  known = known && neuron_wait_is_known(wait.mode);
  if (!known) return false;
  const std::uint32_t present = neuron_wait_names_event(wait.mode)
                                    ? std::uint32_t{core.events[wait.index]}
                                    : core.semaphores[wait.index];
  return neuron_wait_holds(wait.mode, present, wait.value);
}

bool TokenEngine::apply(const neuron_sync& update, TokenCore& core) {
  if (update.mode == 0) return true;
  if (!neuron_update_is_known(update.mode)) return false;  // register forms
  if (neuron_update_names_event(update.mode)) {
    core.events[update.index] = neuron_update_result(update.mode, 0, 0) != 0;
  } else {
    std::uint32_t& semaphore = core.semaphores[update.index];
    semaphore = neuron_update_result(update.mode, semaphore, update.value);
  }
  return true;
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
  for (const neuron_sync& wait : waits_of(record)) all_hold = holds(wait, mine, known) && all_hold;
  if (!known) {
    return fail_with(TokenResult::Outcome::not_modelled, "waits in a mode that is not modelled");
  }
  if (!all_hold) return Step::waits;
  started_ = true;
  for (const neuron_sync& wait : waits_of(record)) {
    std::uint32_t after = 0;
    if (neuron_wait_consumes(wait.mode, &after)) mine.events[wait.index] = after != 0;
  }
  for (const neuron_sync& update : updates_of(record)) {
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
    case NEURON_OP_HALT:
      halted_ = true;
      return Step::moved;
    case NEURON_OP_WRITE: {
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
    case NEURON_OP_MOVE:
      move(record);
      break;
    case NEURON_OP_ALU:
      compute(record);
      break;
    case NEURON_OP_TENSOR_LOAD:
      forget_loaded(record);
      break;
    case NEURON_OP_COMPARE_BRANCH:
      return branch(record);
    case NEURON_OP_RANGE_CLEAR:
    case NEURON_OP_POLL_SEMAPHORE:
    case NEURON_OP_TEST_EVENT_SEMAPHORE:
      return fail_with(TokenResult::Outcome::not_modelled,
                       "its payload is not known, so neither is what it does to semaphores");
    default:
      if (!starts_transfer(opcode)) break;
      cores[core()].semaphores[record.u8(isa::at_dma_semaphore)] +=
          record.u8(NEURON_AT_DMA_INCREMENT);
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
  const std::uint8_t op = record.u8(NEURON_AT_OPERATION);
  if (op == NEURON_COMPARE_ALWAYS) return true;
  if (op > NEURON_COMPARE_LAST) return std::nullopt;
  const auto left = registers_[record.u8(NEURON_AT_COMPARE_LEFT)];
  const auto right = op <= NEURON_COMPARE_LAST_IMMEDIATE
                         ? std::optional(record.u32(NEURON_AT_COMPARE_IMMEDIATE))
                         : registers_[record.u8(NEURON_AT_COMPARE_RIGHT)];
  if (!left || !right) return std::nullopt;
  const std::uint8_t dtype = record.u8(NEURON_AT_DTYPE);
  return neuron_compare(op, neuron_widen(dtype, *left), neuron_widen(dtype, *right));
}

TokenEngine::Step TokenEngine::branch(Record record) {
  const auto take = taken(record);
  if (!take) {
    return fail_with(TokenResult::Outcome::not_modelled,
                     "compares a register whose value comes from memory");
  }
  if (!*take) return jump(pc_ + isa::slot_bytes);
  const auto low = registers_[record.u8(NEURON_AT_TARGET_LOW)],
             high = registers_[record.u8(NEURON_AT_TARGET_HIGH)];
  switch (record.u8(isa::at_branch_target_mode)) {
    case NEURON_TARGET_RELATIVE:
      return jump(pc_ + static_cast<std::uint64_t>(
                            static_cast<std::int32_t>(record.u32(isa::at_branch_immediate))));
    case NEURON_TARGET_REGISTERS:
      if (low && high) return jump((*low | std::uint64_t{*high} << 32) - base_);
      break;
    case NEURON_TARGET_RELATIVE_REGISTER:
      if (low) return jump(pc_ + static_cast<std::uint64_t>(static_cast<std::int32_t>(*low)));
      break;
    default:
      break;
  }
  return fail_with(TokenResult::Outcome::not_modelled, "branches to a place that is not known");
}

void TokenEngine::move(Record record) {
  const std::uint8_t count = record.u8(isa::at_move_count);
  for (std::uint8_t i = 0; i < count && i < 8; ++i) {
    const std::uint8_t target = record.u8(isa::at_move_targets + i);
    registers_[target] = record.u8(NEURON_AT_SOURCE) == NEURON_SOURCE_IMMEDIATE
                             ? std::optional(record.u32(isa::at_move_immediates + 4u * i))
                             : registers_[record.u8(NEURON_AT_MOVE_SOURCES + i)];
  }
}

void TokenEngine::compute(Record record) {
  const auto source = registers_[record.u8(NEURON_AT_ALU_SOURCE)];
  std::optional<std::uint32_t> value;
  std::uint32_t result = 0;
  if (source && record.u8(NEURON_AT_SOURCE) == NEURON_SOURCE_IMMEDIATE &&
      neuron_alu(record.u8(NEURON_AT_OPERATION), record.u8(NEURON_AT_DTYPE), *source,
                 record.u32(NEURON_AT_ALU_IMMEDIATE), &result)) {
    value = result;
  }
  registers_[record.u8(NEURON_AT_ALU_TARGET)] = value;
}

void TokenEngine::forget_loaded(Record record) {
  const unsigned count = std::min(
      32u, unsigned{record.u8(NEURON_AT_TENSOR_COUNTS)} * record.u8(NEURON_AT_TENSOR_COUNTS + 1));
  for (unsigned i = 0; i < count; ++i)
    registers_[record.u8(NEURON_AT_TENSOR_REGISTERS + i)].reset();
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
  StoppedEngine stopped = where();
  const TokenCore& mine = cores[core()];
  for (const neuron_sync& wait : waits_of(Record(record_at(pc_)))) {
    bool known = true;
    if (holds(wait, mine, known)) continue;
    stopped.event = neuron_wait_names_event(wait.mode);
    stopped.index = wait.index;
    stopped.wanted = wait.value;
    stopped.value = stopped.event ? mine.events[wait.index] : mine.semaphores[wait.index];
    stopped.reason = "waits for " + isa::wait_text(wait, stopped.value);
    break;
  }
  return stopped;
}

void TokenEngine::for_each_left(
    const std::function<void(std::uint32_t, std::uint32_t)>& each) const {
  for (std::uint64_t at = pc_; at + isa::slot_bytes <= image_.size(); at += isa::slot_bytes) {
    const Record record(record_at(at));
    for (const neuron_sync& update : updates_of(record)) {
      if (isa::updates_semaphore(update.mode)) each(core(), update.index);
    }
    if (starts_transfer(record.opcode())) each(core(), record.u8(isa::at_dma_semaphore));
  }
}

}  // namespace neffld
