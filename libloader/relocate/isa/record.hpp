// SPDX-License-Identifier: MIT
// The 64-byte instruction record: its common header and the records the loader emits (spec 05 A1,
// A5, decision 30).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "isa/opcodes.hpp"
#include "neffld/bytes.hpp"
#include "neuron_abi/instruction.h"

namespace neffld::isa {

inline constexpr std::size_t slot_bytes = 64;
inline constexpr std::uint8_t word_length = 0x10;  // 4-byte words in a record, always

/// Offsets inside a record.
enum Offset : std::size_t {
  at_opcode = 0x00,
  at_word_length = 0x01,
  at_debug_hint = 0x03,
  at_wait_mode = 0x04,
  at_wait_index = 0x05,
  at_update_mode = 0x06,
  at_update_index = 0x07,
  at_semaphore_value = 0x08,
  // C1, C2
  at_queue_name = 0x0C,
  at_use_raw_count = 0x2C,
  at_block_id = 0x30,
  // A5 WRITE
  at_write_size = 0x0C,
  at_write_address = 0x10,
  at_write_value = 0x18,
  // A9; DD has its target in the same fields
  at_branch_compare = 0x0C,
  at_branch_target_mode = 0x0E,
  at_branch_target_low = 0x22,
  at_branch_target_high = 0x23,
  at_branch_immediate = 0x30,
  // A7 MOVE
  at_move_count = 0x0C,
  at_move_dtype = 0x0D,
  at_move_source = 0x0E,
  at_move_targets = 0x18,
  at_move_immediates = 0x20,
  // C8, CB
  at_collective_op = 0x0C,
  at_collective_dtype = 0x0D,
  at_collective_group = 0x0E,
  at_collective_input = 0x10,
  at_collective_output = 0x14,
  at_collective_elements = 0x18,
  at_collective_type = 0x20,
  at_collective_input_offset = 0x30,
  at_collective_output_offset = 0x38,
  // C9: variable and offset as CD, CE
  at_address_register_low = 0x20,
  at_address_register_high = 0x21,
  // CC
  at_label = 0x0C,
  // D1, D3
  at_function_name = 0x0C,
  at_reset_semaphores = 0x30,
  at_return_register_low = 0x31,
  at_return_register_high = 0x32,
  at_args_table = 0x30,
  // DA
  at_extension_compute = 0x03,
  // DF
  at_inst_code = 0x0C,
  // A0, second wait and update
  at_extended_wait_mode = 0x20,
  at_extended_update_mode = 0x22,
  // CD, CE, AA, AB
  at_tensor_dtype = 0x0C,
  at_tensor_elements = 0x0E,
  at_tensor_var_id = 0x10,
  at_tensor_var_offset = 0x14,
  at_tensor_marker = 0x17,  // AA, AB: of the ADDR8 at 0x10
  at_tensor_steps = 0x18,
  // D4, B8
  at_dma_semaphore = 0x0D,
  at_dge_op = 0x0F,
  at_source = 0x10,
  at_destination = 0x28,
};
inline constexpr std::size_t queue_name_bytes = 32;
inline constexpr std::size_t function_name_bytes = 32;  // of 36; the runtime compares these

/// Where an A9 goes (its byte 0E).
enum TargetMode : std::uint8_t {
  target_register = 1,           ///< absolute, in a register pair
  target_label = 2,              ///< source streams only: label id at 30
  target_relative = 3,           ///< byte offset from the record itself
  target_relative_register = 4,  ///< the same in a register
};
inline constexpr std::uint8_t last_compare = 12;  // A9 compares 0 (always) to 12

/// Bits of byte 3.
inline constexpr std::uint8_t hint_function = 1;  // record of a function
inline constexpr std::uint8_t hint_relative_branch = 2;

/// A view of one record of a stream.
class Record {
 public:
  explicit Record(Bytes slot) : slot_(slot) {}
  std::uint8_t opcode() const { return slot_[at_opcode]; }
  std::uint8_t u8(std::size_t offset) const { return slot_[offset]; }
  std::uint16_t u16(std::size_t offset) const { return load_le<std::uint16_t>(slot_, offset); }
  std::uint32_t u32(std::size_t offset) const { return load_le<std::uint32_t>(slot_, offset); }
  std::uint64_t u64(std::size_t offset) const { return load_le<std::uint64_t>(slot_, offset); }
  Bytes bytes() const { return slot_; }

 private:
  Bytes slot_;
};

/// True when a wait or update mode names a semaphore (not an event, not "none").
constexpr bool waits_on_semaphore(std::uint8_t wait_mode) {
  return wait_mode >= 1 && wait_mode <= 5;
}
constexpr bool updates_semaphore(std::uint8_t update_mode) {
  // "On complete" modes are the "on read" ones plus 16; register variants fill the even gaps.
  const std::uint8_t base = update_mode & 0x0F;
  return update_mode < 0x20 && base >= 3 && base <= 10;
}

/// "==" to ">=" for the modes that compare a semaphore, 1 to 5.
std::string_view wait_comparison(std::uint8_t wait_mode);
/// What a wait of a known mode but 0 asks for and what is there: "semaphore 4 >= 32, is 16",
/// "event 3 to be set, is 0".
std::string wait_text(const neuron_sync& wait, std::uint32_t present);

using Slot = std::array<std::uint8_t, slot_bytes>;

/// An empty record.
Slot make_record(std::uint8_t opcode);
/// WRITE of a 4-byte value; address and value are zero until patched.
Slot make_write();
/// The gate of the preamble: wait until semaphore 240 + engine is positive, then take one.
Slot make_start_gate(Engine engine);
/// NOTIFY that ends an execution: adds one to semaphore 245.
Slot make_done_notify();
/// Unconditional relative branch; the offset is zero until patched.
Slot make_branch();
/// Unconditional branch to the absolute address in a register pair.
Slot make_register_branch(std::uint8_t low, std::uint8_t high);
/// MOVE of two 32-bit immediates, zero until patched, into a register pair.
Slot make_address_move(std::uint8_t low, std::uint8_t high);

inline constexpr std::uint8_t start_semaphore = 240;  // + engine
inline constexpr std::uint8_t done_semaphore = 245;

}  // namespace neffld::isa
