// SPDX-License-Identifier: MIT
// Address operands of instruction records: the var-id form and its bounds (spec 05 A3, decision
// 11).
#pragma once

#include <array>
#include <cstdint>

#include "isa/record.hpp"
#include "neffld/error.hpp"
#include "neffld/kbin.hpp"
#include "neffld/plan.hpp"

namespace neffld {

/// PSEUDO_ADDR8 forms a D4 operand may have.
enum class OperandForm : std::uint8_t {
  variable,              ///< marker 0x10: var-id + offset, becomes an address
  table_entry,           ///< marker 0x20: position in the dge-table, stays
  table_entry_register,  ///< 0x24, 0x28, 0x2C: the same, with the offset in registers
};

struct Operand {
  OperandForm form = OperandForm::variable;
  std::uint32_t var_id = 0;  ///< the variable meant, also behind a table entry
  std::uint64_t offset = 0;  ///< bytes in that variable
  std::uint32_t table_index = 0;
};

/// The bytes one side of a strided transfer touches, relative to the variable.
struct Reach {
  std::array<std::int64_t, 2> steps = {};
  std::array<std::uint64_t, 2> counts = {1, 1};
  std::uint64_t run = 1;
};

/// Where a record names a variable: a PSEUDO_ADDR8 (D4), or the id field of a tensor load or store.
enum class OperandPlace : std::uint8_t { pseudo_address, tensor };

/// Checks that the id is one of a variable such an operand may name: placed at load; in a
/// PSEUDO_ADDR8 no pointer and no remote either (spec 05 A3 and U). The error has no place yet.
Result<void> check_operand_variable(const Kbin& kbin, std::uint32_t var_id, OperandPlace place,
                                    std::size_t at);

/// What operands of a kbin mean without naming it; looked up once, a file may have millions of
/// them.
struct OperandTargets {
  explicit OperandTargets(const Kbin& kbin);
  const Variable* state_buffer;  ///< null: none
  const Variable* dge_table;     ///< null: none
};

/// Decodes the 8-byte operand at `offset_in_slot`. The error has no place yet.
Result<Operand> decode_operand(const Kbin& kbin, const OperandTargets& targets, isa::Record record,
                               std::size_t offset_in_slot);

/// First byte touched and the one behind the last, relative to the start; negative steps go below
/// it.
struct Span {
  std::int64_t low = 0, high = 0;
};
Span span_of(const Reach& reach);

/// Checks that every byte of `reach` lies inside the operand's variable; state buffer operands are
/// checked partition by partition.
Result<void> check_reach(const Kbin& kbin, const ArchTable& arch, const Operand& operand,
                         const Reach& reach);

}  // namespace neffld
