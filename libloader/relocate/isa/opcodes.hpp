// SPDX-License-Identifier: MIT
// Opcode legality: one table per architecture (spec 05 A2).
#pragma once

#include <cstdint>
#include <string_view>

#include "neffld/arch.hpp"

namespace neffld::isa {

/// What the translator does with a record (spec 05 A4). N is the number of records it becomes.
enum class Treatment : std::uint8_t {
  unknown,          ///< not an opcode of this architecture
  verbatim,         ///< real record, copied
  dma_trigger,      ///< C1: tail-increment writes
  dma_rearm,        ///< C2: queue reset writes
  barrier,          ///< C3, D5, D8: DRAIN
  collective,       ///< C8, CB: one write to the collectives engine
  read_var_addr,    ///< C9: MOVE of an address into a register pair
  branch_label,     ///< CC: removed
  tensor_store,     ///< CD -> AB
  tensor_load,      ///< CE -> AA
  function_begin,   ///< D1: removed
  function_return,  ///< D2: DRAIN, branch to the return registers
  function_call,    ///< D3: MOVE of the return address, relative branch
  dma_direct2d,     ///< D4 -> B8
  extension,        ///< DA: removed; may ask for nothing
  branch_hint,      ///< DD -> B5 with the offset of its target
  inst,             ///< DF: exit -> branch to the postamble
  branch,           ///< A9: label or source offset -> offset in the image
  pseudo_refused,   ///< pseudo record that has no known lowering
};

struct Opcode {
  std::string_view name;  ///< empty when unknown
  Treatment treatment = Treatment::unknown;
  std::int8_t only_engine = -1;  ///< engine number, -1 = any
  std::string_view reason;       ///< of pseudo_refused: why
};

/// The 256 entries of `arch`.
const Opcode* opcode_table(Arch arch);
/// The entry of `opcode` in the table of `arch`.
inline const Opcode& opcode_of(Arch arch, std::uint8_t opcode) {
  return opcode_table(arch)[opcode];
}

// Opcodes the loader reads or writes by name.
inline constexpr std::uint8_t op_activation_table_load = 0x23;
inline constexpr std::uint8_t op_event_semaphore = 0xA0;
inline constexpr std::uint8_t op_halt = 0xA1;
inline constexpr std::uint8_t op_drain = 0xA2;
inline constexpr std::uint8_t op_write = 0xA5;
inline constexpr std::uint8_t op_notify = 0xA6;
inline constexpr std::uint8_t op_move = 0xA7;
inline constexpr std::uint8_t op_compare_branch = 0xA9;
inline constexpr std::uint8_t op_tensor_load = 0xAA;
inline constexpr std::uint8_t op_tensor_store = 0xAB;
inline constexpr std::uint8_t op_branch_prefetch_hint = 0xB5;
inline constexpr std::uint8_t op_dma_memcpy = 0xB8;
inline constexpr std::uint8_t op_pseudo_direct2d = 0xD4;
inline constexpr std::uint8_t op_pseudo_extension = 0xDA;

}  // namespace neffld::isa
