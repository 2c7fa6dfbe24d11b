// SPDX-License-Identifier: MIT
// The 64-byte instruction record: its common header and the records the loader emits (spec 05 A1,
// A5, decision 30).
#pragma once

#include <array>
#include <cstdint>

#include "isa/opcodes.hpp"
#include "neffld/bytes.hpp"

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
  // A9
  at_branch_target_mode = 0x0E,
  at_branch_immediate = 0x30,
  // A0, second wait and update
  at_extended_wait_mode = 0x20,
  at_extended_update_mode = 0x22,
  // CD, CE, AA, AB
  at_tensor_dtype = 0x0C,
  at_tensor_elements = 0x0E,
  at_tensor_var_id = 0x10,
  at_tensor_var_offset = 0x14,
  at_tensor_steps = 0x18,
  // D4, B8
  at_dma_semaphore = 0x0D,
  at_dge_op = 0x0F,
  at_source = 0x10,
  at_destination = 0x28,
};
inline constexpr std::size_t queue_name_bytes = 32;

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
bool waits_on_semaphore(std::uint8_t wait_mode);
bool updates_semaphore(std::uint8_t update_mode);

using Slot = std::array<std::uint8_t, slot_bytes>;

/// WRITE of a 4-byte value; address and value are zero until patched.
Slot make_write();
/// The gate of the preamble: wait until semaphore 240 + engine is positive, then take one.
Slot make_start_gate(Engine engine);
/// NOTIFY that ends an execution: adds one to semaphore 245.
Slot make_done_notify();
/// Unconditional relative branch; the offset is zero until patched.
Slot make_branch();

inline constexpr std::uint8_t start_semaphore = 240;  // + engine
inline constexpr std::uint8_t done_semaphore = 245;

}  // namespace neffld::isa
