// SPDX-License-Identifier: MIT
#include "operand.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neffld {
namespace {

constexpr std::uint8_t marker_variable = 0x10;
constexpr std::uint8_t marker_table = 0x20;
constexpr std::uint8_t marker_offset_register = 0x0C;  // 0x08 a register, 0x04 a pair

const Variable* find_kind(const Kbin& kbin, VarKind kind) {
  const auto found = std::find_if(kbin.variables.begin(), kbin.variables.end(),
                                  [kind](const Variable& v) { return v.kind == kind; });
  return found == kbin.variables.end() ? nullptr : &*found;
}

Result<Operand> decode_variable(const Kbin& kbin, const OperandTargets& targets, isa::Record record,
                                std::size_t at) {
  Operand operand{OperandForm::variable, 0, record.u32(at), 0};
  operand.var_id = record.u16(at + 4) | std::uint32_t{record.u8(at + 6)} << 16;
  // The compiler writes var_id 0 for the state buffer whatever its id is (spec 05 A3, [ours]).
  if (operand.var_id == 0 && !kbin.variables.empty() &&
      kbin.variables[0].kind != VarKind::state_buffer) {
    if (targets.state_buffer != nullptr) operand.var_id = targets.state_buffer->var_id;
  }
  NEFFLD_TRY(check_operand_variable(kbin, operand.var_id, OperandPlace::pseudo_address, at));
  return operand;
}

Result<Operand> decode_table_entry(const Variable* table, isa::Record record, std::size_t at) {
  Operand operand{OperandForm::table_entry, 0, record.u32(at), record.u16(at + 4)};
  const std::size_t entries = table ? table->list.size() : 0;
  if (operand.table_index >= entries) {
    return invalid({}, fmt::format("operand at byte 0x{:x} names entry {} of a dge-table with {} "
                                   "entries",
                                   at, operand.table_index, entries));
  }
  operand.var_id = table->list[operand.table_index];
  if (record.u8(at + 7) != marker_table) operand.form = OperandForm::table_entry_register;
  return operand;
}

/// Adds one dimension of a strided walk. Steps have 35 bits and counts 16, so 64 bits hold every
/// sum.
void add(Span& span, std::int64_t step, std::uint64_t count) {
  const std::int64_t reach = step * static_cast<std::int64_t>(count - 1);
  (reach < 0 ? span.low : span.high) += reach;
}

Result<void> check_state_buffer(const Kbin& kbin, const ArchTable& arch, const Operand& operand,
                                const Reach& reach) {
  const auto stride = static_cast<std::int64_t>(arch.sbuf_partition_stride);
  Span partitions, bytes;
  for (std::size_t i = 0; i < reach.steps.size(); ++i) {
    if (reach.counts[i] == 1) continue;
    if (reach.steps[i] % stride == 0) {
      add(partitions, reach.steps[i] / stride, reach.counts[i]);
    } else {
      add(bytes, reach.steps[i], reach.counts[i]);
    }
  }
  const auto start = static_cast<std::int64_t>(operand.offset);
  const std::uint64_t limit =
      kbin.carveouts.empty() ? arch.sbuf_partition_bytes : kbin.carveouts.front().offset;
  const std::int64_t first_byte = start % stride + bytes.low;
  const std::int64_t last_byte = start % stride + bytes.high + static_cast<std::int64_t>(reach.run);
  const std::int64_t first_partition = start / stride + partitions.low;
  const std::int64_t last_partition = start / stride + partitions.high;
  if (first_byte >= 0 && last_byte <= static_cast<std::int64_t>(limit) && first_partition >= 0 &&
      last_partition < static_cast<std::int64_t>(arch.sbuf_partitions)) {
    return {};
  }
  return invalid({}, fmt::format("transfer of the state buffer from offset 0x{:x} leaves its "
                                 "partitions (0x{:x} bytes each, {} partitions)",
                                 operand.offset, limit, arch.sbuf_partitions));
}

}  // namespace

Result<void> check_operand_variable(const Kbin& kbin, std::uint32_t var_id, OperandPlace place,
                                    std::size_t at) {
  if (var_id >= kbin.variables.size()) {
    return invalid(
        {}, fmt::format("operand at byte 0x{:x} names variable {}, expected an id below {}", at,
                        var_id, kbin.variables.size()));
  }
  const Variable& variable = kbin.variables[var_id];
  switch (variable.kind) {
    case VarKind::state_buffer:
    case VarKind::file:
    case VarKind::tmp_buf:
    case VarKind::virtual_buf:
      return {};
    case VarKind::pointer:  // a scalar load is how a stream reads a pointer cell
    case VarKind::remote:
      if (place == OperandPlace::tensor) return {};
      break;
    case VarKind::input:
    case VarKind::output:
    case VarKind::list:
    case VarKind::dge_table:
      break;
  }
  return invalid({},
                 fmt::format("operand at byte 0x{:x} names {} variable {}, expected one that is "
                             "placed at load",
                             at, var_kind_name(variable.kind), variable.name));
}

OperandTargets::OperandTargets(const Kbin& kbin)
    : state_buffer(find_kind(kbin, VarKind::state_buffer)),
      dge_table(find_kind(kbin, VarKind::dge_table)) {}

Result<Operand> decode_operand(const Kbin& kbin, const OperandTargets& targets, isa::Record record,
                               std::size_t offset_in_slot) {
  const std::uint8_t marker = record.u8(offset_in_slot + 7);
  if ((marker & 0xFC) == marker_variable) {
    return decode_variable(kbin, targets, record, offset_in_slot);
  }
  if ((marker & ~marker_offset_register) == marker_table) {
    return decode_table_entry(targets.dge_table, record, offset_in_slot);
  }
  return unsupported({}, fmt::format("operand at byte 0x{:x} has marker 0x{:02x}, expected 0x10 "
                                     "(variable) or 0x20 (dge-table entry)",
                                     offset_in_slot, marker));
}

Span span_of(const Reach& reach) {
  Span span{0, static_cast<std::int64_t>(reach.run)};
  for (std::size_t i = 0; i < reach.steps.size(); ++i) add(span, reach.steps[i], reach.counts[i]);
  return span;
}

Result<void> check_reach(const Kbin& kbin, const ArchTable& arch, const Operand& operand,
                         const Reach& reach) {
  const Variable& variable = kbin.variables[operand.var_id];
  if (reach.counts[0] == 0 || reach.counts[1] == 0 || reach.run == 0) {
    return invalid({}, "transfer of no bytes: a count is 0");
  }
  if (operand.form == OperandForm::table_entry_register) return {};  // known while it runs only
  if (variable.kind == VarKind::state_buffer) {
    return check_state_buffer(kbin, arch, operand, reach);
  }
  const Span span = span_of(reach);
  const auto start = static_cast<std::int64_t>(operand.offset);
  if (start + span.low >= 0 && static_cast<std::uint64_t>(start + span.high) <= variable.size) {
    return {};
  }
  return invalid({}, fmt::format("invalid offset in {}, {} < ({} + {})", variable.name,
                                 variable.size, operand.offset, span.high));
}

}  // namespace neffld
