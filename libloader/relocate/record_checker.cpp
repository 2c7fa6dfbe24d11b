// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "translator.hpp"

namespace neffld {
namespace {

using isa::Record;
using isa::Treatment;

Reach reach_of(Record record, std::size_t steps_at, std::size_t counts_at, std::size_t run_at) {
  Reach reach;
  for (std::size_t i = 0; i < 2; ++i) {
    reach.steps[i] = static_cast<std::int32_t>(record.u32(steps_at + 4 * i));
    reach.counts[i] = record.u16(counts_at + 2 * i);
  }
  reach.run = record.u16(run_at) ? record.u16(run_at) : 65536;
  return reach;
}

/// What a tensor load or store (MEM_2D, spec 05 A5) touches; its steps count elements.
Reach tensor_reach(Record record, std::uint32_t element_bytes) {
  Reach reach;
  for (std::size_t i = 0; i < 2; ++i) {
    reach.counts[i] = record.u8(isa::at_tensor_elements + i);
    reach.steps[i] = static_cast<std::int32_t>(record.u32(isa::at_tensor_steps + 4 * i)) *
                     std::int64_t{element_bytes};
  }
  reach.run = element_bytes;
  return reach;
}

// All a tensor load or store touches lies in one of these (spec 05 A5).
constexpr unsigned tensor_window_bits = 24;  // 16 MiB

/// True for the real tensor load and store when their address is an immediate (spec 05 A3).
bool has_immediate_tensor(Record record) {
  const bool tensor =
      record.opcode() == isa::op_tensor_load || record.opcode() == isa::op_tensor_store;
  return tensor && (record.u8(isa::at_tensor_marker) & 0xFC) == 0;
}

/// True for records that leave nothing behind to wait or update in their place.
bool is_removed(Treatment treatment) {
  return treatment == Treatment::branch_label || treatment == Treatment::function_begin;
}

// ALU operations a collective may reduce with: 4 add, 6 mult, 8 max, 9 min (spec 05 A1).
constexpr std::uint32_t collective_operations = 0x350;
constexpr std::uint8_t all_reduce = 1;
constexpr std::uint8_t op_trigger_collective = 0xC8;

}  // namespace

std::string opcode_label(Arch arch, std::uint8_t opcode) {
  return fmt::format("0x{:02X} {}", opcode, isa::opcode_of(arch, opcode).name);
}

std::string_view name_field(Record record, std::size_t at, std::size_t bytes) {
  const std::string_view field = as_text(record.bytes()).substr(at, bytes);
  return field.substr(0, field.find('\0'));
}

RecordChecker::RecordChecker(const Kbin& kbin, const ArchTable& arch, Engine engine)
    : kbin_(kbin),
      arch_(arch),
      opcodes_(isa::opcode_table(arch.arch)),
      engine_(engine),
      targets_(kbin) {
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

tl::unexpected<Error> RecordChecker::refuse(std::uint64_t slot, std::string text,
                                            ErrorClass error_class) const {
  return tl::unexpected<Error>(place({Status::invalid, error_class, {}, std::move(text)}, slot));
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
  // An extension has no standard header: its operands start at byte 3 (spec 05 A4).
  const bool has_header = opcode.treatment != Treatment::extension;
  if (has_header && record.u8(isa::at_word_length) != isa::word_length) {
    return invalid({}, fmt::format("record length is {} words, expected {}",
                                   record.u8(isa::at_word_length), isa::word_length));
  }
  if (opcode.only_engine >= 0 && opcode.only_engine != static_cast<int>(engine_)) {
    return invalid({},
                   fmt::format("opcode {} is illegal on engine {}",
                               opcode_label(arch_.arch, record.opcode()), engine_name(engine_)));
  }
  if (opcode.treatment == Treatment::pseudo_refused) {
    return unsupported(
        {}, fmt::format("Unsupported hardware operator code {} found in neff: {} on "
                        "engine {} cannot be lowered, {}",
                        record.opcode(), opcode.name, engine_name(engine_), opcode.reason));
  }
  if (!has_header) return opcode.treatment;
  if (is_removed(opcode.treatment) &&
      (record.u8(isa::at_wait_mode) != 0 || record.u8(isa::at_update_mode) != 0)) {
    return invalid({}, fmt::format("{} has a wait or an update, which would be lost: the record is "
                                   "removed",
                                   opcode.name));
  }
  NEFFLD_TRY(check_semaphores(record));
  if (has_immediate_tensor(record)) {
    NEFFLD_TRY(window_unplaced(record, record.u64(isa::at_tensor_var_id)));
  }
  return opcode.treatment;
}

Result<Treatment> RecordChecker::check(Record record, std::uint64_t slot) const {
  auto result = check_unplaced(record);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

Result<QueueLookup::Instance> RecordChecker::queue_of(Record record, std::uint64_t slot,
                                                      const QueueLookup& lookup) const {
  const std::string_view name = name_field(record, isa::at_queue_name, isa::queue_name_bytes);
  const auto found = lookup.find(name);
  if (!found)
    return refuse(slot, fmt::format("names queue '{}', which def.json does not define", name));
  const QueueSet& queue = kbin_.queue_sets[found->queue_set];
  if (queue.dynamic) {
    return refuse(slot, fmt::format("triggers dynamic queue '{}', which has no ring", name));
  }
  if (queue.owner != engine_) {
    return refuse(slot,
                  fmt::format("queue '{}' is owned by engine {}, expected its own engine {} to "
                              "trigger it",
                              name, engine_name(queue.owner), engine_name(engine_)));
  }
  return *found;
}

bool is_raw_trigger(Record record) {
  return record.u32(isa::at_use_raw_count) != 0;
}

Result<std::uint32_t> RecordChecker::block_of(Record record, std::uint64_t slot,
                                              QueueLookup::Instance instance,
                                              std::string_view function,
                                              const QueueLookup& lookup) const {
  const std::uint32_t id = record.u32(isa::at_block_id);
  if (const auto block = lookup.find_block(instance, function, id)) return *block;
  return refuse(slot, fmt::format("queue '{}' has no DMA block {}{}{}",
                                  kbin_.queue_sets[instance.queue_set].name, id,
                                  function.empty() ? "" : " of function ", function));
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
  NEFFLD_ASSIGN(transfer.source, decode_operand(kbin_, targets_, record, isa::at_source));
  NEFFLD_ASSIGN(transfer.destination, decode_operand(kbin_, targets_, record, isa::at_destination));
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
  const Operand operand{OperandForm::variable, record.u32(isa::at_tensor_var_id),
                        record.u32(isa::at_tensor_var_offset), 0};
  NEFFLD_TRY(
      check_operand_variable(kbin_, operand.var_id, OperandPlace::tensor, isa::at_tensor_var_id));
  const Variable& variable = kbin_.variables[operand.var_id];
  if (variable.kind == VarKind::pointer && operand.offset != 0) {  // spec 03 section 3.4
    return invalid({}, fmt::format("offset {} into pointer variable {}, expected 0", operand.offset,
                                   variable.name));
  }
  Reach reach;
  const isa::Opcode& opcode = isa::opcode_of(arch_.arch, record.opcode());
  if (opcode.treatment != Treatment::read_var_addr) {  // which touches nothing: one byte will do
    const std::uint32_t dtype = record.u8(isa::at_tensor_dtype);
    const std::uint32_t bytes = dtype_bytes(dtype);
    if (dtype == 1 || bytes == 0) {
      return invalid(
          {}, fmt::format("dtype code is {}, expected a known one other than 1 (u64)", dtype));
    }
    reach = tensor_reach(record, bytes);
    constexpr std::uint64_t most_elements = 32;  // registers or immediates of MEM_2D (spec 05 A5)
    if (reach.counts[0] * reach.counts[1] > most_elements) {
      return invalid({}, fmt::format("moves {} elements, expected at most {}",
                                     reach.counts[0] * reach.counts[1], most_elements));
    }
  }
  NEFFLD_TRY(check_reach(kbin_, arch_, operand, reach));
  return operand;
}

Result<Operand> RecordChecker::tensor_operand(Record record, std::uint64_t slot) const {
  auto result = tensor_operand_unplaced(record);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

Result<void> RecordChecker::window_unplaced(Record record, std::uint64_t address) const {
  // A real record is not checked otherwise, so its dtype may be an unknown one.
  const Reach reach =
      tensor_reach(record, std::max(dtype_bytes(record.u8(isa::at_tensor_dtype)), 1u));
  if (reach.counts[0] == 0 || reach.counts[1] == 0) return {};
  const Span span = span_of(reach);
  const std::uint64_t first = address + static_cast<std::uint64_t>(span.low);
  const std::uint64_t last = address + static_cast<std::uint64_t>(span.high - 1);
  if (first >> tensor_window_bits == last >> tensor_window_bits) return {};
  return invalid({},
                 fmt::format("{} of engine {}: the address at byte 0x{:x} with the steps at byte "
                             "0x{:x} spans 0x{:x} to 0x{:x}, expected a span inside one 16 MiB "
                             "window",
                             opcode_label(arch_.arch, record.opcode()), engine_name(engine_),
                             +isa::at_tensor_var_id, +isa::at_tensor_steps, first, last));
}

Result<void> RecordChecker::check_window(Record record, std::uint64_t address,
                                         std::uint64_t slot) const {
  auto result = window_unplaced(record, address);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

Result<void> RecordChecker::collective_unplaced(Record record) const {
  const bool reduces = record.opcode() == op_trigger_collective;
  const std::uint32_t operation = record.u8(isa::at_collective_op);
  if (reduces && (operation >= 32 || (collective_operations >> operation & 1) == 0)) {
    return invalid({}, fmt::format("reduce operation is {}, expected 4, 6, 8 or 9", operation));
  }
  if (record.u8(isa::at_collective_type) != all_reduce && reduces) {
    return unsupported({}, fmt::format("collective type is {}, expected 1 (all-reduce)",
                                       record.u8(isa::at_collective_type)));
  }
  const std::uint32_t size = dtype_bytes(record.u8(isa::at_collective_dtype));
  if (size == 0) {
    return invalid({}, fmt::format("dtype code is {}, expected a known one",
                                   record.u8(isa::at_collective_dtype)));
  }
  const std::size_t groups = reduces ? kbin_.replica_groups.size() : kbin_.src_target_pairs.size();
  if (groups != 0 && record.u16(isa::at_collective_group) >= groups) {  // a file may list none
    return invalid({}, fmt::format("group is {}, expected one below {}",
                                   record.u16(isa::at_collective_group), groups));
  }
  const auto check_side = [&](std::size_t var_at, std::size_t offset_at) -> Result<void> {
    const std::uint32_t var_id = record.u32(var_at);
    if (var_id >= kbin_.variables.size()) {
      return invalid({}, fmt::format("byte 0x{:x} names variable {}, expected an id below {}",
                                     var_at, var_id, kbin_.variables.size()));
    }
    const Variable& variable = kbin_.variables[var_id];
    const std::uint64_t values = variable.size / size, offset = record.u64(offset_at);
    const std::uint64_t count = record.u64(isa::at_collective_elements);
    if (count != 0 && offset <= values && count <= values - offset) return {};
    return invalid({}, fmt::format("invalid offset in {}, {} < ({} + {})", variable.name, values,
                                   offset, count));
  };
  NEFFLD_TRY(check_side(isa::at_collective_input, isa::at_collective_input_offset));
  return check_side(isa::at_collective_output, isa::at_collective_output_offset);
}

Result<void> RecordChecker::check_collective(Record record, std::uint64_t slot) const {
  auto result = collective_unplaced(record);
  if (!result) return tl::unexpected<Error>(place(std::move(result.error()), slot));
  return result;
}

Result<void> RecordChecker::check_extension(Record record, std::uint64_t slot) const {
  // How its operands reach the D4 before it is not known (spec 05 A4), so it may have none.
  if (record.u8(isa::at_extension_compute) != 0) {
    return refuse(slot,
                  fmt::format("PSEUDO_EXTENSION has compute operation {}, which cannot be "
                              "lowered, expected 0",
                              record.u8(isa::at_extension_compute)),
                  ErrorClass::unsupported);
  }
  for (std::size_t at = 2; at < isa::slot_bytes; ++at) {
    if (record.u8(at) == 0) continue;
    return refuse(slot,
                  fmt::format("PSEUDO_EXTENSION has 0x{:x} at byte 0x{:x}: bounds and index "
                              "addresses cannot be lowered, expected 0",
                              record.u8(at), at),
                  ErrorClass::unsupported);
  }
  return {};
}

std::uint64_t lowered_slots(Treatment treatment, std::uint32_t rings) {
  switch (treatment) {
    case Treatment::branch_label:
    case Treatment::function_begin:
    case Treatment::extension:
      return 0;
    case Treatment::function_call:
    case Treatment::function_return:
      return 2;
    case Treatment::dma_trigger:
    case Treatment::dma_rearm:
      return 2ull * rings;
    default:
      return 1;
  }
}

}  // namespace neffld
