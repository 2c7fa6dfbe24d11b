// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "translator.hpp"

namespace neffld {
namespace {

using isa::Record;
using isa::Treatment;

// Semaphores the loader keeps for itself (decision 39).
bool is_reserved_semaphore(std::uint8_t index) {
  return index <= 2 || (index >= isa::start_semaphore && index <= isa::done_semaphore);
}

std::string opcode_label(Arch arch, std::uint8_t opcode) {
  return fmt::format("0x{:02X} {}", opcode, isa::opcode_of(arch, opcode).name);
}

std::string_view queue_name_of(Record record) {
  const std::string_view field =
      as_text(record.bytes()).substr(isa::at_queue_name, isa::queue_name_bytes);
  return field.substr(0, field.find('\0'));
}

Reach reach_of(Record record, std::size_t steps_at, std::size_t counts_at, std::size_t run_at) {
  Reach reach;
  for (std::size_t i = 0; i < 2; ++i) {
    reach.steps[i] = static_cast<std::int32_t>(record.u32(steps_at + 4 * i));
    reach.counts[i] = record.u16(counts_at + 2 * i);
  }
  reach.run = record.u16(run_at) ? record.u16(run_at) : 65536;
  return reach;
}

}  // namespace

RecordChecker::RecordChecker(const Kbin& kbin, const ArchTable& arch, Engine engine)
    : kbin_(kbin), arch_(arch), engine_(engine) {
  for (const QueueSet& queue : kbin.queue_sets) {
    if (!queue.dynamic || queue.owner != engine) continue;
    dynamic_queue_ = &queue;
    ++dynamic_queue_count_;
  }
}

Error RecordChecker::place(Error error, std::uint64_t slot) const {
  error.where.member = kbin_.engine(engine_).bin_member;
  if (error.where.path.empty()) error.where.path = "slot";
  error.where.record = slot;
  return error;
}

Result<void> RecordChecker::check_semaphores(Record record) const {
  const auto check = [](bool used, std::uint8_t index) -> Result<void> {
    if (!used || !is_reserved_semaphore(index)) return {};
    return invalid(
        {}, fmt::format("semaphore {} is reserved for the runtime (0..2 and 240..245)", index));
  };
  const auto check_pair = [&](std::size_t wait_at, std::size_t update_at) -> Result<void> {
    NEFFLD_TRY(check(isa::waits_on_semaphore(record.u8(wait_at)), record.u8(wait_at + 1)));
    return check(isa::updates_semaphore(record.u8(update_at)), record.u8(update_at + 1));
  };
  NEFFLD_TRY(check_pair(isa::at_wait_mode, isa::at_update_mode));
  if (record.opcode() != isa::op_event_semaphore) return {};
  return check_pair(isa::at_extended_wait_mode, isa::at_extended_update_mode);
}

Result<Treatment> RecordChecker::check_unplaced(Record record) const {
  const isa::Opcode& opcode = isa::opcode_of(arch_.arch, record.opcode());
  if (opcode.treatment == Treatment::unknown) {
    return unsupported({},
                       fmt::format("Unsupported hardware operator code {} found in neff: 0x{:02X} "
                                   "is no opcode of {}",
                                   record.opcode(), record.opcode(), arch_name(arch_.arch)));
  }
  if (record.u8(isa::at_word_length) != isa::word_length) {
    return invalid({}, fmt::format("record length is {} words, expected {}",
                                   record.u8(isa::at_word_length), isa::word_length));
  }
  if (opcode.only_engine >= 0 && opcode.only_engine != static_cast<int>(engine_)) {
    return invalid({},
                   fmt::format("opcode {} is illegal on engine {}",
                               opcode_label(arch_.arch, record.opcode()), engine_name(engine_)));
  }
  if (opcode.treatment == Treatment::pseudo_refused ||
      opcode.treatment == Treatment::branch_refused) {
    return unsupported(
        {}, fmt::format(
                "Unsupported hardware operator code {} found in neff: {} "
                "needs {}, which this version does not translate",
                record.opcode(), opcode.name,
                opcode.treatment == Treatment::branch_refused ? "branch fix-up" : "its lowering"));
  }
  NEFFLD_TRY(check_semaphores(record));
  return opcode.treatment;
}

Result<Treatment> RecordChecker::check(Record record, std::uint64_t slot) const {
  auto result = check_unplaced(record);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

Result<QueueLookup::Instance> RecordChecker::queue_of(Record record, std::uint64_t slot,
                                                      const QueueLookup& lookup) const {
  const auto refuse = [&](std::string text) {
    return tl::unexpected<Error>(
        place(Error{Status::invalid, ErrorClass::format, {}, std::move(text)}, slot));
  };
  const std::string_view name = queue_name_of(record);
  const auto found = lookup.find(name);
  if (!found) return refuse(fmt::format("names queue '{}', which def.json does not define", name));
  const QueueSet& queue = kbin_.queue_sets[found->queue_set];
  if (queue.dynamic) {
    return refuse(fmt::format("triggers dynamic queue '{}', which has no ring", name));
  }
  if (queue.owner != engine_) {
    return refuse(
        fmt::format("queue '{}' is owned by engine {}, expected its own engine {} to "
                    "trigger it",
                    name, engine_name(queue.owner), engine_name(engine_)));
  }
  return *found;
}

Result<std::uint32_t> RecordChecker::block_of(Record record, std::uint64_t slot,
                                              const QueueLookup& lookup) const {
  NEFFLD_ASSIGN(const QueueLookup::Instance instance, queue_of(record, slot, lookup));
  if (record.u32(isa::at_use_raw_count) != 0) {
    return tl::unexpected<Error>(place({Status::invalid,
                                        ErrorClass::unsupported,
                                        {},
                                        "raw descriptor counts are not supported, expected a block "
                                        "id"},
                                       slot));
  }
  const std::uint32_t id = record.u32(isa::at_block_id);
  if (const auto block = lookup.find_block(instance, id)) return *block;
  return tl::unexpected<Error>(place({Status::invalid,
                                      ErrorClass::format,
                                      {},
                                      fmt::format("queue '{}' has no DMA block {}",
                                                  kbin_.queue_sets[instance.queue_set].name, id)},
                                     slot));
}

Result<DirectTransfer> RecordChecker::transfer_unplaced(Record record) const {
  if (record.u8(isa::at_dge_op) != 0) {
    return invalid({}, fmt::format("dge_op is {}, expected 0 (copy)", record.u8(isa::at_dge_op)));
  }
  if (dynamic_queue_count_ != 1) {
    return invalid({}, fmt::format("engine {} owns {} dynamic queues, expected exactly 1",
                                   engine_name(engine_), dynamic_queue_count_));
  }
  const std::uint8_t semaphore = record.u8(isa::at_dma_semaphore);
  const auto& set = dynamic_queue_->semaphores;
  if (std::find(set.begin(), set.end(), semaphore) == set.end()) {
    return invalid({},
                   fmt::format("completion semaphore {} is not in the semaphore_set of queue {}",
                               semaphore, dynamic_queue_->name));
  }
  DirectTransfer transfer;
  NEFFLD_ASSIGN(transfer.source, decode_operand(kbin_, record, isa::at_source));
  NEFFLD_ASSIGN(transfer.destination, decode_operand(kbin_, record, isa::at_destination));
  const Reach source = reach_of(record, 0x18, 0x20, 0x24);
  const Reach destination = reach_of(record, 0x30, 0x38, 0x3C);
  NEFFLD_TRY(check_reach(kbin_, arch_, transfer.source, source));
  NEFFLD_TRY(check_reach(kbin_, arch_, transfer.destination, destination));
  transfer.elements = source.counts[0] * source.counts[1];
  transfer.source_bytes = transfer.elements * source.run;
  return transfer;
}

Result<DirectTransfer> RecordChecker::transfer_of(Record record, std::uint64_t slot) const {
  auto result = transfer_unplaced(record);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

Result<Operand> RecordChecker::tensor_operand_unplaced(Record record) const {
  const std::uint32_t dtype = record.u8(isa::at_tensor_dtype);
  if (dtype == 1 || dtype_bytes(dtype) == 0) {
    return invalid({},
                   fmt::format("dtype code is {}, expected a known one other than 1 (u64)", dtype));
  }
  Operand operand{OperandForm::variable, record.u32(isa::at_tensor_var_id),
                  record.u32(isa::at_tensor_var_offset), 0};
  NEFFLD_TRY(
      check_operand_variable(kbin_, operand.var_id, OperandPlace::tensor, isa::at_tensor_var_id));
  Reach reach;
  for (std::size_t i = 0; i < 2; ++i) {
    reach.counts[i] = record.u8(isa::at_tensor_elements + i);
    reach.steps[i] = static_cast<std::int32_t>(record.u32(isa::at_tensor_steps + 4 * i)) *
                     static_cast<std::int64_t>(dtype_bytes(dtype));
  }
  reach.run = dtype_bytes(dtype);
  NEFFLD_TRY(check_reach(kbin_, arch_, operand, reach));
  return operand;
}

Result<Operand> RecordChecker::tensor_operand(Record record, std::uint64_t slot) const {
  auto result = tensor_operand_unplaced(record);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

std::uint64_t lowered_slots(Treatment treatment, std::uint32_t rings) {
  switch (treatment) {
    case Treatment::branch_label:
      return 0;
    case Treatment::dma_trigger:
    case Treatment::dma_rearm:
      return 2ull * rings;
    default:
      return 1;
  }
}

}  // namespace neffld
