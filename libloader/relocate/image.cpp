// SPDX-License-Identifier: MIT
#include "image.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neuron_abi/udma.h"
#include "resolve.hpp"
#include "translator.hpp"

namespace neffld {
namespace {

using isa::Record;
using isa::Slot;
using isa::Treatment;

class Assembler {
 public:
  Assembler(const ImageInput& input, Engine engine, Ledger& ledger, IpMap* ip)
      : input_(input),
        stream_(input.planned.streams[static_cast<std::size_t>(engine)]),
        checker_(input.kbin, input.arch, engine),
        engine_(engine),
        image_(stream_.slots_out * isa::slot_bytes),
        patcher_(image_, input.kbin_index, stream_.request, ledger),
        ip_(ip) {}

  Result<std::vector<std::uint8_t>> run() {
    append(isa::make_start_gate(engine_).data());
    add_ip(0, 1, IpChange::insert, IpSection::preamble);
    main_start_ = at_;
    NEFFLD_TRY(lower_stream());
    if (ip_) {
      ip_->main_offset = main_start_;
      ip_->main_bytes = at_ - main_start_;
    }
    NEFFLD_TRY(append_postamble());
    if (at_ != image_.size()) {
      return invalid({.member = input_.kbin.engine(engine_).bin_member},
                     fmt::format("image has {} bytes, {} were planned", at_, image_.size()));
    }
    return std::move(image_);
  }

 private:
  /// Copies a record behind the image; the plan has reserved its room.
  void append(const std::uint8_t* slot) {
    if (at_ < image_.size()) std::copy_n(slot, isa::slot_bytes, image_.data() + at_);
    at_ += isa::slot_bytes;
  }

  void add_ip(std::uint64_t offset, std::uint64_t count, IpChange change, IpSection section) {
    if (!ip_) return;
    ip_->rows.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(count), change, section});
  }

  Result<void> lower_stream() {
    const Bytes slots = input_.kbin.engine(engine_).slots;
    for (std::uint64_t slot = 0; slot < stream_.slots_in; ++slot) {
      const Record record(slots.subspan(slot * isa::slot_bytes, isa::slot_bytes));
      const isa::Opcode& opcode = isa::opcode_of(input_.arch.arch, record.opcode());
      if (opcode.treatment == Treatment::verbatim) {
        append(record.bytes().data());
        continue;
      }
      const std::uint64_t start = at_;
      NEFFLD_TRY(lower(record, slot, opcode.treatment));
      const std::uint64_t emitted = (at_ - start) / isa::slot_bytes;
      if (emitted > 1) add_ip(start - main_start_, emitted - 1, IpChange::insert, IpSection::main);
      if (emitted == 0) add_ip(start - main_start_, 1, IpChange::remove, IpSection::main);
    }
    return {};
  }

  Result<void> lower(Record record, std::uint64_t slot, Treatment treatment) {
    switch (treatment) {
      case Treatment::branch_label:
        return {};
      case Treatment::dma_trigger:
        return lower_trigger(record, slot);
      case Treatment::dma_rearm:
        return lower_rearm(record, slot);
      case Treatment::dma_direct2d:
        return lower_transfer(record, slot);
      case Treatment::tensor_load:
        return lower_tensor(record, slot, isa::op_tensor_load);
      case Treatment::tensor_store:
        return lower_tensor(record, slot, isa::op_tensor_store);
      default:
        break;
    }
    // Planning has refused everything else.
    return tl::unexpected<Error>(checker_.place(
        {Status::invalid, ErrorClass::unsupported, {}, "record cannot be lowered"}, slot));
  }

  /// The source's wait goes on the first record of an expansion, its update on the last (A5).
  struct SplitSync {
    Record record;
    void apply(Slot& slot, bool first, bool last) const {
      if (first) {
        slot[isa::at_wait_mode] = record.u8(isa::at_wait_mode);
        slot[isa::at_wait_index] = record.u8(isa::at_wait_index);
      }
      if (last) {
        slot[isa::at_update_mode] = record.u8(isa::at_update_mode);
        slot[isa::at_update_index] = record.u8(isa::at_update_index);
      }
      if ((first && record.u8(isa::at_wait_mode) != 0) ||
          (last && record.u8(isa::at_update_mode) != 0)) {
        store_le(MutableBytes(slot), isa::at_semaphore_value, record.u32(isa::at_semaphore_value));
      }
    }
  };

  /// Emits one register WRITE and patches its address and value.
  Result<void> append_write(Slot slot, std::uint64_t address, std::uint32_t value, RelocForm form,
                            std::uint32_t queue_set, std::uint64_t source_slot) {
    const std::uint64_t at = at_;
    const SourceRecord source{SourceRecord::Kind::slot, static_cast<std::uint32_t>(source_slot)};
    const Symbol symbol{Symbol::Kind::queue, queue_set, 0};
    append(slot.data());
    NEFFLD_TRY(patcher_.patch(at + isa::at_write_address, RelocForm::queue_register, address,
                              symbol, source));
    return patcher_.patch(at + isa::at_write_value, form, value, symbol, source);
  }

  /// One pair of WRITEs a ring: to its RX register, then to its TX register (decision 6).
  template <class Value>
  Result<void> append_ring_writes(Record record, std::uint64_t slot, std::uint32_t queue_set,
                                  std::uint32_t rx_register, std::uint32_t tx_register,
                                  Value value_of_ring) {
    const std::uint32_t rings = input_.kbin.queue_sets[queue_set].num_queues;
    const std::uint32_t queue = input_.planned.queue_sets[queue_set].queue_id.value_or(0);
    const QueueRegisters registers{input_.arch, input_.planned.core};
    const SplitSync sync{record};
    for (std::uint32_t k = 0; k < rings; ++k) {
      Slot rx = isa::make_write(), tx = isa::make_write();
      sync.apply(rx, k == 0, false);
      sync.apply(tx, false, k + 1 == rings);
      const std::uint32_t value = value_of_ring(k);
      NEFFLD_TRY(append_write(rx, registers.rx(k, queue, rx_register), value,
                              RelocForm::descriptor_count, queue_set, slot));
      NEFFLD_TRY(append_write(tx, registers.tx(k, queue, tx_register), value,
                              RelocForm::descriptor_count, queue_set, slot));
    }
    return {};
  }

  Result<void> lower_trigger(Record record, std::uint64_t slot) {
    const std::uint32_t block = stream_.triggers[next_trigger_++];
    const BlockCounter& counter = input_.planned.block_counters[block];
    return append_ring_writes(record, slot, input_.kbin.blocks[block].queue_set,
                              NEURON_UDMA_Q_TAIL_INC, NEURON_UDMA_Q_TAIL_INC,
                              [&](std::uint32_t k) { return counter[k]; });
  }

  /// Resets head, tail and ring id of every ring (decision 30).
  Result<void> lower_rearm(Record record, std::uint64_t slot) {
    if (!lookup_) {
      NEFFLD_ASSIGN(lookup_, QueueLookup::build(input_.kbin));
    }
    NEFFLD_ASSIGN(const auto queue, checker_.queue_of(record, slot, *lookup_));
    return append_ring_writes(record, slot, queue.queue_set, NEURON_UDMA_S2M_Q_SW_CTRL,
                              NEURON_UDMA_M2S_Q_SW_CTRL,
                              [](std::uint32_t) { return NEURON_UDMA_Q_SW_CTRL_RESET; });
  }

  /// Replaces a var-id operand by the variable's address; table entries stay as they are.
  Result<void> patch_operand(const Operand& operand, std::uint64_t at, std::uint64_t slot) {
    if (operand.form == OperandForm::table_entry) return {};
    const Variable& variable = input_.kbin.variables[operand.var_id];
    const Placement& placement = input_.planned.variables[operand.var_id];
    if (!has_address(placement)) {
      return tl::unexpected<Error>(
          checker_.place({Status::invalid,
                          ErrorClass::format,
                          {},
                          fmt::format("Variable {} is not staged in HBM", variable.name)},
                         slot));
    }
    const std::uint64_t address = placed_address(placement, input_.addresses) + operand.offset;
    if (address >> 56 != 0) {  // the top byte of an immediate address is its marker
      return tl::unexpected<Error>(
          checker_.place({Status::invalid,
                          ErrorClass::format,
                          {},
                          fmt::format("address 0x{:x} needs more than 56 bits", address)},
                         slot));
    }
    return patcher_.patch(at, RelocForm::var_address, address,
                          {Symbol::Kind::variable, operand.var_id, operand.offset},
                          {SourceRecord::Kind::slot, static_cast<std::uint32_t>(slot)});
  }

  Result<void> patch_opcode(std::uint64_t at, std::uint8_t opcode, std::uint64_t slot) {
    return patcher_.patch(at, RelocForm::opcode, opcode, {},
                          {SourceRecord::Kind::slot, static_cast<std::uint32_t>(slot)});
  }

  Result<void> lower_transfer(Record record, std::uint64_t slot) {
    NEFFLD_ASSIGN(const DirectTransfer transfer, checker_.transfer_of(record, slot));
    const std::uint64_t at = at_;
    append(record.bytes().data());
    NEFFLD_TRY(patch_opcode(at, isa::op_dma_memcpy, slot));
    NEFFLD_TRY(patch_operand(transfer.source, at + isa::at_source, slot));
    return patch_operand(transfer.destination, at + isa::at_destination, slot);
  }

  Result<void> lower_tensor(Record record, std::uint64_t slot, std::uint8_t opcode) {
    NEFFLD_ASSIGN(const Operand operand, checker_.tensor_operand(record, slot));
    const std::uint64_t at = at_;
    append(record.bytes().data());
    NEFFLD_TRY(patch_opcode(at, opcode, slot));
    return patch_operand(operand, at + isa::at_tensor_var_id, slot);
  }

  /// NOTIFY, then back to the gate at offset 0 (decision 30).
  Result<void> append_postamble() {
    add_ip(at_, 2, IpChange::insert, IpSection::postamble);
    append(isa::make_done_notify().data());
    const std::uint64_t branch = at_;
    append(isa::make_branch().data());
    // The 8-byte field holds the signed 32-bit offset zero-extended (spec 05 A5).
    const std::uint64_t offset = static_cast<std::uint32_t>(-static_cast<std::int64_t>(branch));
    return patcher_.patch(branch + isa::at_branch_immediate, RelocForm::branch_offset, offset,
                          {Symbol::Kind::section, stream_.request, 0}, {});
  }

  const ImageInput& input_;
  const StreamPlan& stream_;
  RecordChecker checker_;
  Engine engine_;
  std::vector<std::uint8_t> image_;
  Patcher patcher_;
  IpMap* ip_;
  std::optional<QueueLookup> lookup_;
  std::size_t next_trigger_ = 0;
  std::uint64_t at_ = 0, main_start_ = 0;
};

}  // namespace

std::uint64_t QueueRegisters::tx(std::uint32_t k, std::uint32_t queue, std::uint32_t reg) const {
  return arch.dma_engine_base[core] + arch.dma_engine_stride * k +
         neuron_udma_tx_register(queue, reg);
}

std::uint64_t QueueRegisters::rx(std::uint32_t k, std::uint32_t queue, std::uint32_t reg) const {
  return arch.dma_engine_base[core] + arch.dma_engine_stride * k +
         neuron_udma_rx_register(queue, reg);
}

Result<std::vector<std::uint8_t>> assemble_image(const ImageInput& input, Engine engine,
                                                 Ledger& ledger, IpMap* ip) {
  return Assembler(input, engine, ledger, ip).run();
}

}  // namespace neffld
