// SPDX-License-Identifier: MIT
// Opcode legality: one table per architecture (spec 05 A2).
#pragma once

#include <cstdint>
#include <string_view>

#include "neffld/arch.hpp"

namespace neffld::isa {

/// What the translator does with a record.
enum class Treatment : std::uint8_t {
  unknown,         ///< not an opcode of this architecture
  verbatim,        ///< real record, copied
  dma_trigger,     ///< C1: tail-increment writes
  dma_rearm,       ///< C2: queue reset writes
  branch_label,    ///< CC: removed
  tensor_store,    ///< CD -> AB
  tensor_load,     ///< CE -> AA
  dma_direct2d,    ///< D4 -> B8
  pseudo_refused,  ///< pseudo record this version does not lower
  branch_refused,  ///< A9 in a source stream: needs branch fix-up
};

struct Opcode {
  std::string_view name;  ///< empty when unknown
  Treatment treatment = Treatment::unknown;
  std::int8_t only_engine = -1;  ///< engine number, -1 = any
};

/// The entry of `opcode` in the table of `arch`.
const Opcode& opcode_of(Arch arch, std::uint8_t opcode);

// Opcodes the loader reads or writes by name.
inline constexpr std::uint8_t op_activation_table_load = 0x23;
inline constexpr std::uint8_t op_event_semaphore = 0xA0;
inline constexpr std::uint8_t op_write = 0xA5;
inline constexpr std::uint8_t op_notify = 0xA6;
inline constexpr std::uint8_t op_compare_branch = 0xA9;
inline constexpr std::uint8_t op_tensor_load = 0xAA;
inline constexpr std::uint8_t op_tensor_store = 0xAB;
inline constexpr std::uint8_t op_dma_memcpy = 0xB8;

}  // namespace neffld::isa
