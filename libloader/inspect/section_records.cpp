// SPDX-License-Identifier: MIT
#include "section_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neffld/disassembler.hpp"
#include "neffld/explain.hpp"
#include "neffld/text.hpp"
#include "neuron_abi/udma.h"

namespace neffld {
namespace {

constexpr std::uint64_t cell_bytes = 8, plain_bytes = 16;

// An entry of the table of GPSIMD functions (stage/microcode.cpp).
constexpr std::uint64_t function_bytes = 280;

std::string function_text(Bytes entry, const Locator& locator) {
  if (std::all_of(entry.begin(), entry.end(), [](std::uint8_t byte) { return byte == 0; })) {
    return "empty";
  }
  const std::string_view name = as_text(entry).substr(0, 256);
  const auto address = load_le<std::uint64_t>(entry, 272);
  return fmt::format(
      "{}: opcode 0x{:02x}, sub opcode 0x{:02x}, CPU {} of {}, library at 0x{:x}<{}>",
      one_line(name.substr(0, name.find('\0'))), entry[256], entry[257],
      load_le<std::uint32_t>(entry, 260), load_le<std::uint32_t>(entry, 264), address,
      locator.text(address));
}

}  // namespace

RecordKind record_kind(SectionKind kind) {
  switch (kind) {
    case SectionKind::instructions:
      return RecordKind::instruction;
    case SectionKind::ring_tx:
    case SectionKind::act_tx_ring:
    case SectionKind::dve_tx_ring:
    case SectionKind::exec_tx_ring:
      return RecordKind::descriptor_tx;
    case SectionKind::ring_rx:
    case SectionKind::act_rx_ring:
    case SectionKind::dve_rx_ring:
    case SectionKind::exec_rx_ring:
      return RecordKind::descriptor_rx;
    case SectionKind::pointer_cells:
    case SectionKind::table:
      return RecordKind::cell;
    case SectionKind::ucode_table:
      return RecordKind::ucode_function;
    default:
      return RecordKind::bytes;
  }
}

std::uint64_t record_size(RecordKind kind) {
  switch (kind) {
    case RecordKind::instruction:
      return instruction_bytes;
    case RecordKind::cell:
      return cell_bytes;
    case RecordKind::ucode_function:
      return function_bytes;
    default:
      return plain_bytes;  // a descriptor too
  }
}

std::string_view record_kind_name(RecordKind kind) {
  constexpr std::string_view names[] = {"instruction", "descriptor",     "descriptor",
                                        "cell",        "ucode function", "bytes"};
  return names[static_cast<std::size_t>(kind)];
}

std::string descriptor_text(Bytes descriptor, bool rx, const Locator& locator) {
  const auto control = load_le<std::uint32_t>(descriptor, 0);
  const auto second = load_le<std::uint32_t>(descriptor, 4);
  const auto pointer = load_le<std::uint64_t>(descriptor, NEURON_UDMA_DESC_PTR_OFFSET);
  if (control == 0 && second == 0 && pointer == 0) return "all zero";
  const std::uint32_t length = control & NEURON_UDMA_LEN_MASK;
  std::string flags;
  const auto flag = [&](std::uint32_t bit, std::string_view name) {
    if (control & bit) flags += fmt::format(" {}", name);
  };
  flag(NEURON_UDMA_META, "META");
  flag(NEURON_UDMA_FIRST, "FIRST");
  flag(NEURON_UDMA_LAST, "LAST");
  flag(NEURON_UDMA_INT_EN, "INT");
  flag(NEURON_UDMA_STRONG_ORDER_WR, "SOW");
  flag(NEURON_UDMA_DMB, "DMB");
  flag(NEURON_UDMA_CONCAT, "CONCAT");
  std::string text = fmt::format("{} {} bytes, ring id {},{}", rx ? "writes" : "reads",
                                 length ? length : NEURON_UDMA_MAX_DESC_BYTES,
                                 (control & NEURON_UDMA_RING_ID_MASK) >> NEURON_UDMA_RING_ID_SHIFT,
                                 flags.empty() ? std::string(" no flags") : flags);
  if (!rx && second != NEURON_UDMA_META_COPY) text += fmt::format(", meta 0x{:08x}", second);
  return text + fmt::format(", at 0x{:x}<{}>", pointer, locator.text(pointer));
}

std::string record_text(RecordKind kind, Bytes record, const Locator& locator,
                        std::uint32_t subgraph) {
  switch (kind) {
    case RecordKind::instruction:
      return mnemonic(locator.layout().arch, record) + " " +
             disassemble(record, {locator, subgraph});
    case RecordKind::descriptor_tx:
    case RecordKind::descriptor_rx:
      return descriptor_text(record, kind == RecordKind::descriptor_rx, locator);
    case RecordKind::cell: {
      const auto pointer = load_le<std::uint64_t>(record, 0);
      return pointer ? fmt::format("0x{:x}<{}>", pointer, locator.text(pointer))
                     : std::string("empty");
    }
    case RecordKind::ucode_function:
      return function_text(record, locator);
    case RecordKind::bytes:
      break;
  }
  return record_hex(record);
}

}  // namespace neffld
