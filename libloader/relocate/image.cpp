// SPDX-License-Identifier: MIT
#include "image.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "image_writer.hpp"
#include "ip_map.hpp"
#include "neuron_abi/udma.h"
#include "resolve.hpp"
#include "translator.hpp"

namespace neffld {
namespace {

using isa::Record;
using isa::Slot;
using isa::Treatment;

/// EVENTS of a record that stands for the source alone.
void copy_events(Record record, Slot& slot) {
  store_le(MutableBytes(slot), isa::at_wait_mode, record.u64(isa::at_wait_mode));
}

/// Of several records, the first gets the source's wait and the last its update (A5).
void copy_wait(Record record, Slot& slot) {
  if (record.u8(isa::at_wait_mode) == 0) return;
  store_le(MutableBytes(slot), isa::at_wait_mode, record.u16(isa::at_wait_mode));
  store_le(MutableBytes(slot), isa::at_semaphore_value, record.u32(isa::at_semaphore_value));
}
void copy_update(Record record, Slot& slot) {
  if (record.u8(isa::at_update_mode) == 0) return;
  store_le(MutableBytes(slot), isa::at_update_mode, record.u16(isa::at_update_mode));
  store_le(MutableBytes(slot), isa::at_semaphore_value, record.u32(isa::at_semaphore_value));
}

class Assembler {
 public:
  Assembler(const ImageInput& input, Engine engine, MutableBytes image, Ledger& ledger,
            IpMapBuilder& ip)
      : input_(input),
        stream_(input.planned.streams[static_cast<std::size_t>(engine)]),
        slots_(input.kbin.engine(engine).slots),
        checker_(input.kbin, input.arch, engine),
        engine_(engine),
        writer_(image, input.kbin_index, stream_.request, ledger),
        ip_(ip),
        next_collective_(stream_.first_collective) {}

  Result<void> run() {
    NEFFLD_TRY(writer_.append(isa::make_start_gate(engine_)));
    ip_.begin(IpSection::preamble, 0);
    ip_.lowered(0, 0, 1);
    for (std::size_t body = 0; body < stream_.bodies.size(); ++body) {
      NEFFLD_TRY(lower_body(body));
      if (body == 0) NEFFLD_TRY(append_postamble());
    }
    ip_.end(writer_.at(), stream_.slots_in);
    if (writer_.at() != writer_.size()) {
      return invalid(
          {.member = input_.kbin.engine(engine_).bin_member},
          fmt::format("image has {} bytes, {} were planned", writer_.at(), writer_.size()));
    }
    return {};
  }

 private:
  Record record_at(std::uint64_t slot) const {
    return Record(slots_.subspan(slot * isa::slot_bytes, isa::slot_bytes));
  }

  Result<void> lower_body(std::size_t number) {
    body_ = &stream_.bodies[number];
    if (number <= 1) {
      ip_.begin(number == 0 ? IpSection::main : IpSection::function, writer_.at());
    }
    writer_.set_hint(number == 0 ? 0 : isa::hint_function);
    next_trigger_ = body_->first_trigger;
    for (std::uint64_t slot = body_->first_slot; slot < body_->end_slot; ++slot) {
      if (number == 0) NEFFLD_TRY(append_verbatim(slot));
      if (slot == body_->end_slot) break;
      const Record record = record_at(slot);
      const Treatment treatment = checker_.treatment_of(record);
      const std::uint64_t start = writer_.at();
      writer_.set_source(slot);
      if (treatment == Treatment::verbatim) {
        NEFFLD_TRY(writer_.append(record.bytes()));
      } else {
        NEFFLD_TRY(lower(record, slot, treatment));
      }
      const std::uint64_t emitted = (writer_.at() - start) / isa::slot_bytes;
      if (emitted != 1) ip_.lowered(start, 1, emitted);
    }
    writer_.clear_source();
    writer_.set_hint(0);
    return {};
  }

  /// Appends the records from `slot` on that stay as they are, many at a time, and moves `slot`
  /// behind them. MAIN only: records of functions get a hint each.
  Result<void> append_verbatim(std::uint64_t& slot) {
    constexpr std::uint64_t most = 64;  // records that stay in the fastest cache between two looks
    for (;;) {
      const std::uint64_t begin = slot,
                          stop = std::min<std::uint64_t>(body_->end_slot, slot + most);
      while (slot < stop && checker_.treatment_of(record_at(slot)) == Treatment::verbatim) ++slot;
      if (slot == begin) return {};
      NEFFLD_TRY(writer_.append_run(
          slots_.subspan(begin * isa::slot_bytes, (slot - begin) * isa::slot_bytes)));
    }
  }

  Result<void> lower(Record record, std::uint64_t slot, Treatment treatment) {
    switch (treatment) {
      case Treatment::branch_label:
      case Treatment::function_begin:
      case Treatment::extension:  // has nothing the transfer before it needs
        return {};
      case Treatment::dma_trigger:
        return lower_trigger(record, slot);
      case Treatment::dma_rearm:
        return lower_rearm(record, slot);
      case Treatment::barrier:
        return lower_barrier(record);
      case Treatment::collective:
        return lower_collective(record);
      case Treatment::read_var_addr:
        return lower_read_address(record, slot);
      case Treatment::dma_direct2d:
        return lower_transfer(record, slot);
      case Treatment::tensor_load:
        return lower_tensor(record, slot, isa::op_tensor_load);
      case Treatment::tensor_store:
        return lower_tensor(record, slot, isa::op_tensor_store);
      case Treatment::branch:
        return lower_branch(record);
      case Treatment::branch_hint:
        NEFFLD_TRY(writer_.append(record.bytes(), isa::hint_relative_branch));
        NEFFLD_TRY(writer_.patch_opcode(isa::op_branch_prefetch_hint));
        return patch_jump();
      case Treatment::inst:
        return lower_exit(record);
      case Treatment::function_call:
        return lower_call(record);
      case Treatment::function_return:
        return lower_return(record);
      case Treatment::verbatim:
      case Treatment::unknown:
      case Treatment::pseudo_refused:
        break;
    }
    // Planning has refused everything else.
    return checker_.refuse(slot, "record cannot be lowered", ErrorClass::unsupported);
  }

  /// An empty record with the source's opcode until it is patched to `opcode`.
  Result<void> append_as(Record record, Slot slot, std::uint8_t opcode, std::uint8_t hint = 0) {
    slot[isa::at_opcode] = record.opcode();
    NEFFLD_TRY(writer_.append(slot, hint));
    return writer_.patch_opcode(opcode);
  }

  Result<void> lower_barrier(Record record) {
    Slot slot = isa::make_record(isa::op_drain);
    copy_events(record, slot);
    return append_as(record, slot, isa::op_drain);
  }

  /// One pair of WRITEs a ring: to its RX register, then to its TX register (decision 6).
  template <class Value>
  Result<void> append_ring_writes(Record record, std::uint32_t queue_set, std::uint32_t rx_register,
                                  std::uint32_t tx_register, Value value_of_ring) {
    const std::uint32_t rings = input_.kbin.queue_sets[queue_set].num_queues;
    const std::uint32_t queue = input_.planned.queue_sets[queue_set].queue_id.value_or(0);
    const QueueRegisters registers{input_.arch, input_.planned.core};
    const Symbol symbol{Symbol::Kind::queue, queue_set, 0};
    const Slot write = isa::make_write();
    Slot first = write, last = write;
    copy_wait(record, first);
    copy_update(record, last);
    for (std::uint32_t k = 0; k < rings; ++k) {
      const Slot& rx = k == 0 ? first : write;
      const Slot& tx = k + 1 == rings ? last : write;
      const std::uint32_t value = value_of_ring(k);
      if (!writer_.append_write(rx, registers.rx(k, queue, rx_register),
                                RelocForm::descriptor_count, value, symbol) ||
          !writer_.append_write(tx, registers.tx(k, queue, tx_register),
                                RelocForm::descriptor_count, value, symbol)) [[unlikely]] {
        return writer_.overflow();
      }
    }
    return {};
  }

  Result<void> lower_trigger(Record record, std::uint64_t slot) {
    if (is_raw_trigger(record)) {
      NEFFLD_ASSIGN(const std::uint32_t queue_set, queue_set_of(record, slot));
      return append_ring_writes(record, queue_set, NEURON_UDMA_Q_TAIL_INC, NEURON_UDMA_Q_TAIL_INC,
                                [&](std::uint32_t) { return record.u32(isa::at_block_id); });
    }
    const std::uint32_t block = stream_.triggers[next_trigger_++];
    const BlockCounter& counter = input_.planned.block_counters[block];
    return append_ring_writes(record, input_.kbin.blocks[block].queue_set, NEURON_UDMA_Q_TAIL_INC,
                              NEURON_UDMA_Q_TAIL_INC, [&](std::uint32_t k) { return counter[k]; });
  }

  /// Resets head, tail and ring id of every ring (decision 30).
  Result<void> lower_rearm(Record record, std::uint64_t slot) {
    NEFFLD_ASSIGN(const std::uint32_t queue_set, queue_set_of(record, slot));
    return append_ring_writes(record, queue_set, NEURON_UDMA_S2M_Q_SW_CTRL,
                              NEURON_UDMA_M2S_Q_SW_CTRL,
                              [](std::uint32_t) { return NEURON_UDMA_Q_SW_CTRL_RESET; });
  }

  Result<std::uint32_t> queue_set_of(Record record, std::uint64_t slot) {
    if (!lookup_) {
      NEFFLD_ASSIGN(lookup_, QueueLookup::build(input_.kbin));
    }
    NEFFLD_ASSIGN(const auto queue, checker_.queue_of(record, slot, *lookup_));
    return queue.queue_set;
  }

  /// One WRITE of the collective's number in the subgraph's list (spec 05 U).
  Result<void> lower_collective(Record record) {
    Slot slot = isa::make_write();
    copy_events(record, slot);
    const std::uint64_t address = input_.arch.collective_trigger;
    const Symbol symbol{Symbol::Kind::device_register, 0, address};
    if (writer_.append_write(slot, address, RelocForm::collective_index, next_collective_++,
                             symbol)) {
      return {};
    }
    return writer_.overflow();
  }

  /// Device address of a var-id operand.
  Result<std::uint64_t> address_of(const Operand& operand, std::uint64_t slot) const {
    const Variable& variable = input_.kbin.variables[operand.var_id];
    const Placement& placement = input_.planned.variables[operand.var_id];
    if (!has_address(placement)) {
      return checker_.refuse(slot, fmt::format("Variable {} is not staged in HBM", variable.name));
    }
    const std::uint64_t address = placed_address(placement, input_.addresses) + operand.offset;
    if (address >> 56 == 0) return address;
    // The top byte of an immediate address is its marker.
    return checker_.refuse(slot, fmt::format("address 0x{:x} needs more than 56 bits", address));
  }

  /// Replaces a var-id operand by the variable's address; table entries stay as they are.
  Result<void> patch_operand(const Operand& operand, std::size_t at, std::uint64_t slot) {
    if (operand.form != OperandForm::variable) return {};
    NEFFLD_ASSIGN(const std::uint64_t address, address_of(operand, slot));
    return writer_.patch(at, RelocForm::var_address, address,
                         {Symbol::Kind::variable, operand.var_id, operand.offset});
  }

  Result<void> lower_read_address(Record record, std::uint64_t slot) {
    NEFFLD_ASSIGN(const Operand operand, checker_.tensor_operand(record, slot));
    Slot move = isa::make_address_move(record.u8(isa::at_address_register_low),
                                       record.u8(isa::at_address_register_high));
    copy_events(record, move);
    NEFFLD_TRY(append_as(record, move, isa::op_move));
    return patch_operand(operand, isa::at_move_immediates, slot);
  }

  Result<void> lower_transfer(Record record, std::uint64_t slot) {
    NEFFLD_ASSIGN(const DirectTransfer transfer, checker_.transfer_of(record, slot));
    NEFFLD_TRY(writer_.append(record.bytes()));
    NEFFLD_TRY(writer_.patch_opcode(isa::op_dma_memcpy));
    NEFFLD_TRY(patch_operand(transfer.source, isa::at_source, slot));
    return patch_operand(transfer.destination, isa::at_destination, slot);
  }

  Result<void> lower_tensor(Record record, std::uint64_t slot, std::uint8_t opcode) {
    NEFFLD_ASSIGN(const Operand operand, checker_.tensor_operand(record, slot));
    NEFFLD_ASSIGN(const std::uint64_t address, address_of(operand, slot));
    NEFFLD_TRY(checker_.check_window(record, address, slot));
    NEFFLD_TRY(writer_.append(record.bytes()));
    NEFFLD_TRY(writer_.patch_opcode(opcode));
    return patch_operand(operand, isa::at_tensor_var_id, slot);
  }

  Symbol own_section() const { return {Symbol::Kind::section, stream_.request, 0}; }
  Symbol section_at(std::uint32_t image_slot) const {
    return {Symbol::Kind::section, stream_.request, std::uint64_t{image_slot} * isa::slot_bytes};
  }

  /// The target planning found for the next branch, hint or exit.
  Result<void> patch_jump() {
    const std::uint32_t target = stream_.jumps[next_jump_++].target;
    return writer_.patch_target(target, section_at(target));
  }

  Result<void> lower_branch(Record record) {
    const std::uint8_t mode = record.u8(isa::at_branch_target_mode);
    const bool computed = mode == isa::target_register || mode == isa::target_relative_register;
    NEFFLD_TRY(writer_.append(record.bytes(), computed ? 0 : isa::hint_relative_branch));
    if (computed) return {};
    return patch_jump();
  }

  /// EXIT_EXECUTION: to the postamble, with the placeholder's events and hints (A6 step 7).
  Result<void> lower_exit(Record record) {
    Slot slot = isa::make_branch();
    copy_events(record, slot);
    NEFFLD_TRY(append_as(record, slot, isa::op_compare_branch, record.u8(isa::at_debug_hint)));
    return patch_jump();
  }

  /// MOVE of the absolute return address, then a relative branch (spec 05 U).
  Result<void> lower_call(Record record) {
    const BodyPlan& callee = stream_.bodies[stream_.calls[next_call_++].callee];
    Slot move = isa::make_address_move(callee.return_low, callee.return_high);
    copy_wait(record, move);
    NEFFLD_TRY(writer_.append(move));
    const std::uint64_t behind = writer_.at() + isa::slot_bytes;
    NEFFLD_TRY(writer_.patch(isa::at_move_immediates, RelocForm::return_address,
                             input_.addresses.sections[stream_.request] + behind,
                             {Symbol::Kind::section, stream_.request, behind}));
    Slot branch = isa::make_branch();
    copy_update(record, branch);
    NEFFLD_TRY(writer_.append(branch));
    return writer_.patch_target(callee.image_slot, section_at(callee.image_slot));
  }

  /// DRAIN, then a branch to where the caller said (spec 05 U).
  Result<void> lower_return(Record record) {
    Slot drain = isa::make_record(isa::op_drain);
    copy_wait(record, drain);
    NEFFLD_TRY(append_as(record, drain, isa::op_drain));
    Slot branch = isa::make_register_branch(body_->return_low, body_->return_high);
    copy_update(record, branch);
    return writer_.append(branch);
  }

  /// NOTIFY, then back to the gate at offset 0 (decision 30).
  Result<void> append_postamble() {
    ip_.begin(IpSection::postamble, writer_.at());
    ip_.lowered(writer_.at(), 0, 2);
    NEFFLD_TRY(writer_.append(isa::make_done_notify()));
    NEFFLD_TRY(writer_.append(isa::make_branch()));
    return writer_.patch_target(0, own_section());
  }

  const ImageInput& input_;
  const StreamPlan& stream_;
  Bytes slots_;
  RecordChecker checker_;
  Engine engine_;
  ImageWriter writer_;
  IpMapBuilder& ip_;
  std::optional<QueueLookup> lookup_;
  const BodyPlan* body_ = nullptr;
  std::size_t next_trigger_ = 0, next_jump_ = 0, next_call_ = 0;
  std::uint32_t next_collective_;
};

}  // namespace

Result<void> ImageWriter::overflow() const {
  return invalid({.path = "image"},
                 fmt::format("more records than the {} planned", image_.size() / isa::slot_bytes));
}

Result<IpMap> assemble_image(const ImageInput& input, Engine engine, MutableBytes image,
                             Ledger& ledger) {
  IpMap map;
  IpMapBuilder ip(map);
  NEFFLD_TRY(Assembler(input, engine, image, ledger, ip).run());
  return map;
}

}  // namespace neffld
