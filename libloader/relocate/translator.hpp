// SPDX-License-Identifier: MIT
// The instruction translator: checks every record of a stream and lowers the pseudo ones (spec 05
// A4-A7). The same classification serves planning (sizes) and relocation (bytes).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/record.hpp"
#include "neffld/error.hpp"
#include "neffld/kbin.hpp"
#include "neffld/plan.hpp"
#include "operand.hpp"

namespace neffld {

/// Finds queue sets and DMA blocks by what a trigger record says (spec 04 section 2.2 step 4).
class QueueLookup {
 public:
  /// Error: a block id that occurs twice in one ring instance and function.
  static Result<QueueLookup> build(const Kbin& kbin);

  struct Instance {
    std::uint32_t queue_set = 0, instance = 0;
  };
  /// `name` is a queue set (its first instance) or a ring instance.
  std::optional<Instance> find(std::string_view name) const;
  /// Index of the block in Kbin::blocks. `function` is "" for MAIN.
  std::optional<std::uint32_t> find_block(Instance instance, std::string_view function,
                                          std::uint32_t block_id) const;

 private:
  struct BlockKey {
    std::uint64_t ring, block;
    auto operator<=>(const BlockKey&) const = default;
  };
  static BlockKey key(Instance instance, std::uint32_t function, std::uint32_t block_id);

  std::unordered_map<std::string_view, Instance> instances_;
  std::unordered_map<std::string_view, std::uint32_t> functions_;
  std::map<BlockKey, std::uint32_t> blocks_;  ///< ordered: a file chooses the ids, so a hash could
                                              ///< be made to collide
};

/// Semaphores the loader keeps for itself (decision 39).
constexpr bool is_reserved_semaphore(std::uint8_t index) {
  return index <= 2 || (index >= isa::start_semaphore && index <= isa::done_semaphore);
}
/// Whether the wait at `wait_at` or the update at `update_at` names one of them.
inline bool names_reserved_semaphore(isa::Record record, std::size_t wait_at,
                                     std::size_t update_at) {
  return (is_reserved_semaphore(record.u8(wait_at + 1)) &&
          isa::waits_on_semaphore(record.u8(wait_at))) ||
         (is_reserved_semaphore(record.u8(update_at + 1)) &&
          isa::updates_semaphore(record.u8(update_at)));
}

/// A D4 record, decoded and checked.
struct DirectTransfer {
  Operand source, destination;
  std::uint64_t elements = 0, source_bytes = 0;
};

/// Checks the records of one engine's stream.
class RecordChecker {
 public:
  RecordChecker(const Kbin& kbin, const ArchTable& arch, Engine engine);

  /// True for a record that stays as it is and that no rule of check() could refuse: most of any
  /// stream. False says nothing.
  bool is_plain(isa::Record record) const {
    const isa::Opcode& opcode = opcodes_[record.opcode()];
    return opcode.treatment == isa::Treatment::verbatim &&
           (opcode.only_engine < 0 || opcode.only_engine == static_cast<int>(engine_)) &&
           record.u8(isa::at_word_length) == isa::word_length &&
           record.opcode() != isa::op_event_semaphore && record.opcode() != isa::op_tensor_load &&
           record.opcode() != isa::op_tensor_store &&
           !names_reserved_semaphore(record, isa::at_wait_mode, isa::at_update_mode);
  }
  isa::Treatment treatment_of(isa::Record record) const {
    return opcodes_[record.opcode()].treatment;
  }
  /// What the translator does with the record; every refusal names the slot.
  Result<isa::Treatment> check(isa::Record record, std::uint64_t slot) const;

  /// The queue set a C1 or C2 names; must belong to this engine and own rings.
  Result<QueueLookup::Instance> queue_of(isa::Record record, std::uint64_t slot,
                                         const QueueLookup& lookup) const;
  /// The block a C1 in that function names; `instance` is what queue_of() found.
  Result<std::uint32_t> block_of(isa::Record record, std::uint64_t slot,
                                 QueueLookup::Instance instance, std::string_view function,
                                 const QueueLookup& lookup) const;
  Result<DirectTransfer> transfer_of(isa::Record record, std::uint64_t slot) const;
  /// The operand of a CD, CE or C9.
  Result<Operand> tensor_operand(isa::Record record, std::uint64_t slot) const;
  /// Checks that what a CD, CE, AA or AB touches from that address on lies in one 16 MiB window.
  Result<void> check_window(isa::Record record, std::uint64_t address, std::uint64_t slot) const;
  /// Checks what a C8 or CB says.
  Result<void> check_collective(isa::Record record, std::uint64_t slot) const;
  /// Checks that a DA asks for nothing.
  Result<void> check_extension(isa::Record record, std::uint64_t slot) const;

  /// Adds member and slot to an error.
  Error place(Error error, std::uint64_t slot) const;
  /// A refusal of the record at `slot`.
  tl::unexpected<Error> refuse(std::uint64_t slot, std::string text,
                               ErrorClass error_class = ErrorClass::format) const;
  const ArchTable& arch() const { return arch_; }

 private:
  Result<void> check_semaphores(isa::Record record) const;
  Result<isa::Treatment> check_unplaced(isa::Record record) const;
  Result<DirectTransfer> transfer_unplaced(isa::Record record) const;
  Result<Operand> tensor_operand_unplaced(isa::Record record) const;
  Result<void> window_unplaced(isa::Record record, std::uint64_t address) const;
  Result<void> collective_unplaced(isa::Record record) const;

  const Kbin& kbin_;
  const ArchTable& arch_;
  const isa::Opcode* opcodes_;
  Engine engine_;
  OperandTargets targets_;
  const QueueSet* dynamic_queue_ = nullptr;
  std::uint32_t dynamic_queue_count_ = 0;
};

/// True for a C1 that carries a descriptor count instead of a block id.
bool is_raw_trigger(isa::Record record);

/// Text of a NUL-padded name field; `bytes` when it has no NUL.
std::string_view name_field(isa::Record record, std::size_t at, std::size_t bytes);

/// Slots one source record becomes. `rings` is the number of queues of a C1's or C2's queue set.
std::uint64_t lowered_slots(isa::Treatment treatment, std::uint32_t rings);

/// "0xC4 PSEUDO_DMAMEMCPY_FULL_IND".
std::string opcode_label(Arch arch, std::uint8_t opcode);

}  // namespace neffld
