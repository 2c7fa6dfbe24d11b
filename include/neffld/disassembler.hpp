// SPDX-License-Identifier: MIT
// Instruction records as text (spec 05 A1, A4, A5; 10 s5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/layout.hpp"

namespace neffld {

inline constexpr std::size_t instruction_bytes = 64;

/// What gives names to the numbers in records.
struct DisassemblyContext {
  const Locator& locator;
  std::uint32_t subgraph = 0;
};

/// "A5 WRITE": the opcode and its name, or "unknown".
std::string mnemonic(Arch arch, Bytes record);

/// Everything the record says: wait, fields that are not zero, update, then the bytes no field
/// describes ("+0x2e=0f"). One line without control characters. `record` has 64 bytes.
std::string disassemble(Bytes record, const DisassemblyContext& context);

/// The address a record holds at a field: device registers and plain 8-byte operands.
struct RecordAddress {
  std::uint8_t offset = 0;  ///< of the field in the record
  std::string_view field;
  std::uint64_t address = 0;
};
/// All of them, ascending by offset; marked forms (register, table) are left out.
std::vector<RecordAddress> addresses_in(Bytes record);

/// 64 bytes as 16 groups of 8 hex digits.
std::string record_hex(Bytes record);

}  // namespace neffld
