// SPDX-License-Identifier: MIT
#include "isa/record.hpp"

#include <fmt/format.h>

namespace neffld::isa {
namespace {

// Wait and update modes of spec 05 A1.
constexpr std::uint8_t wait_greater_than = 4;
constexpr std::uint8_t update_increment = 0x13;
constexpr std::uint8_t update_decrement = 0x14;
constexpr std::uint8_t dtype_u32 = 9;
constexpr std::uint8_t source_immediate = 1;

}  // namespace

std::string_view wait_comparison(std::uint8_t wait_mode) {
  constexpr std::array<std::string_view, 6> comparisons = {"", "==", "<", "<=", ">", ">="};
  return comparisons.at(wait_mode);
}

std::string wait_text(const neuron_sync& wait, std::uint32_t present) {
  if (neuron_wait_names_event(wait.mode)) {
    const bool set = neuron_wait_holds(wait.mode, 1, 0);
    return fmt::format("event {} to be {}, is {}", wait.index, set ? "set" : "clear", present);
  }
  return fmt::format("semaphore {} {} {}, is {}", wait.index, wait_comparison(wait.mode),
                     wait.value, present);
}

Slot make_record(std::uint8_t opcode) {
  Slot slot{};
  slot[at_opcode] = opcode;
  slot[at_word_length] = word_length;
  return slot;
}

Slot make_write() {
  Slot slot = make_record(op_write);
  slot[at_write_size] = 4;
  return slot;
}

Slot make_start_gate(Engine engine) {
  const auto semaphore =
      static_cast<std::uint8_t>(start_semaphore + static_cast<std::uint8_t>(engine));
  Slot slot = make_record(op_event_semaphore);
  slot[at_wait_mode] = wait_greater_than;
  slot[at_wait_index] = semaphore;
  slot[at_update_mode] = update_decrement;
  slot[at_update_index] = semaphore;
  return slot;
}

Slot make_done_notify() {
  Slot slot = make_record(op_notify);
  slot[at_update_mode] = update_increment;
  slot[at_update_index] = done_semaphore;
  return slot;
}

Slot make_branch() {
  Slot slot = make_record(op_compare_branch);
  slot[at_debug_hint] = hint_relative_branch;
  slot[at_branch_target_mode] = target_relative;
  return slot;
}

Slot make_register_branch(std::uint8_t low, std::uint8_t high) {
  Slot slot = make_record(op_compare_branch);
  slot[at_branch_target_mode] = target_register;
  slot[at_branch_target_low] = low;
  slot[at_branch_target_high] = high;
  return slot;
}

Slot make_address_move(std::uint8_t low, std::uint8_t high) {
  Slot slot = make_record(op_move);
  slot[at_move_count] = 2;
  slot[at_move_dtype] = dtype_u32;
  slot[at_move_source] = source_immediate;
  slot[at_move_targets] = low;
  slot[at_move_targets + 1] = high;
  return slot;
}

}  // namespace neffld::isa
