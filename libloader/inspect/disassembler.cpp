// SPDX-License-Identifier: MIT
#include "neffld/disassembler.hpp"

#include <fmt/format.h>

#include <bit>
#include <bitset>

#include "isa/fields.hpp"
#include "isa/opcodes.hpp"
#include "isa/record.hpp"
#include "neffld/text.hpp"

namespace neffld {
namespace {

using isa::Field;
using isa::FieldKind;

constexpr std::uint8_t marker_variable = 0x10, marker_table = 0x20, marker_mask = 0xFC;
constexpr std::uint32_t psum_base = 0x200'0000;  // ADDR4 bit 25
constexpr std::uint32_t address4_mask = 0x1FFF'FFFF;
constexpr std::uint8_t move_immediate = 1;

std::uint64_t load_field(Bytes record, const Field& field) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < field.width && i < 8; ++i) {
    value |= std::uint64_t{record[field.offset + i]} << (8 * i);
  }
  return value;
}

std::int64_t signed_value(std::uint64_t value, unsigned width) {
  const unsigned shift = 64 - 8 * width;
  return static_cast<std::int64_t>(value << shift) >> shift;
}

std::string named(std::string_view name, std::uint64_t code) {
  return name.empty() ? fmt::format("#{}", code) : std::string(name);
}

std::string address4(std::uint32_t value) {
  if ((value & ~address4_mask) != 0) return fmt::format("0x{:08x}", value);  // register forms
  return value & psum_base ? fmt::format("PSUM+0x{:x}", value - psum_base)
                           : fmt::format("SB+0x{:x}", value);
}

/// "SB+0x40 (1,0)x(128,4)": steps, then counts; dims of one element are left out at the end.
std::string pattern(Bytes record, std::size_t offset, unsigned dims) {
  std::string steps, counts;
  unsigned last = 1;
  const auto step_at = [&](unsigned i) {
    return static_cast<std::int16_t>(load_le<std::uint16_t>(record, offset + 4 + 2 * i));
  };
  const auto count_at = [&](unsigned i) {
    return load_le<std::uint16_t>(record, offset + 4 + 2 * (dims + i));
  };
  for (unsigned i = 1; i < dims; ++i) {
    if (count_at(i) != 1 || (step_at(i) != 0 && step_at(i) != 1)) last = i + 1;
  }
  for (unsigned i = 0; i < last; ++i) {
    steps += fmt::format("{}{}", i ? "," : "", step_at(i));
    counts += fmt::format("{}{}", i ? "," : "", count_at(i));
  }
  return fmt::format("{}({})x({})", address4(load_le<std::uint32_t>(record, offset)), steps,
                     counts);
}

/// Decodes one record.
class Decoder {
 public:
  Decoder(Bytes record, const DisassemblyContext& context) : record_(record), context_(context) {}

  std::string run() {
    described_.set(0).set(1);
    if (isa::has_events(record_[0])) decode_events();
    for (const Field& field : isa::fields_of(record_[0])) decode_field(field);
    if (record_[0] == isa::op_event_semaphore) decode_second_events();
    note_byte(2, "debug");
    note_byte(3, "hint");
    if (!update_.empty()) add("update", update_);
    for (std::size_t i = 0; i < instruction_bytes; ++i) {
      if (record_[i] != 0 && !described_[i])
        add(fmt::format("+0x{:02x}", i), fmt::format("{:02x}", record_[i]));
    }
    return std::move(text_);
  }

 private:
  void add(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += ' ';
    text_ += name;
    text_ += '=';
    text_ += value;
  }
  void note_byte(std::size_t offset, std::string_view name) {
    described_.set(offset);
    if (record_[offset]) add(name, fmt::format("0x{:x}", record_[offset]));
  }
  void cover(std::size_t offset, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) described_.set(offset + i);
  }

  std::string wait_text(std::uint8_t mode, std::uint8_t index, std::uint32_t value) const {
    if (isa::waits_on_semaphore(mode)) {
      return fmt::format("S[{}]{}{}", index, isa::wait_comparison(mode), value);
    }
    switch (mode) {
      case 6:
        return fmt::format("E[{}]set", index);
      case 7:
        return fmt::format("E[{}]set,clear", index);
      case 14:
        return fmt::format("E[{}]clear", index);
      case 15:
        return fmt::format("E[{}]clear,set", index);
      default:
        return fmt::format("mode{}[{}],{}", mode, index, value);
    }
  }
  std::string update_text(std::uint8_t mode, std::uint8_t index, std::uint32_t value) const {
    const std::string_view when = mode < 0x10 ? "@read" : "";
    switch (mode < 0x20 ? mode & 0x0F : 0) {
      case 1:
        return fmt::format("E[{}]=1{}", index, when);
      case 2:
        return fmt::format("E[{}]=0{}", index, when);
      case 3:
        return fmt::format("S[{}]+=1{}", index, when);
      case 4:
        return fmt::format("S[{}]-=1{}", index, when);
      case 5:
        return fmt::format("S[{}]+={}{}", index, value, when);
      case 7:
        return fmt::format("S[{}]-={}{}", index, value, when);
      case 9:
        return fmt::format("S[{}]={}{}", index, value, when);
      default:
        return fmt::format("mode{}[{}],{}", mode, index, value);
    }
  }

  void decode_events() {
    const std::uint8_t wait = record_[isa::at_wait_mode], update = record_[isa::at_update_mode];
    const auto value = load_le<std::uint32_t>(record_, isa::at_semaphore_value);
    if (wait) {
      cover(isa::at_wait_mode, 2);
      add("wait", wait_text(wait, record_[isa::at_wait_index], value));
    }
    if (update) {
      cover(isa::at_update_mode, 2);
      update_ = update_text(update, record_[isa::at_update_index], value);
    }
    if (wait || update) cover(isa::at_semaphore_value, 4);
  }

  /// The fields of the second wait and update make one text each.
  void decode_second_events() {
    const std::uint8_t wait = record_[isa::at_extended_wait_mode];
    const std::uint8_t update = record_[isa::at_extended_update_mode];
    if (wait) add("wait2", wait_text(wait, record_[0x21], load_le<std::uint32_t>(record_, 0x24)));
    if (update) {
      add("update2", update_text(update, record_[0x23], load_le<std::uint32_t>(record_, 0x28)));
    }
  }

  std::string variable(std::uint64_t id) const {
    const auto& subgraphs = context_.locator.layout().subgraphs;
    if (context_.subgraph < subgraphs.size() &&
        id < subgraphs[context_.subgraph].variables.size()) {
      return one_line(subgraphs[context_.subgraph].variables[id].name);
    }
    return fmt::format("var#{}", id);
  }

  std::string pseudo8(std::size_t offset, std::uint64_t value) const {
    const std::uint8_t marker = record_[offset + 7] & marker_mask;
    const auto displacement = load_le<std::uint32_t>(record_, offset);
    const std::uint64_t id = value >> 32 & 0xFF'FFFF;
    if (marker == marker_variable) return fmt::format("{}+0x{:x}", variable(id), displacement);
    if (marker == marker_table) return fmt::format("table[{}]+0x{:x}", id & 0xFFFF, displacement);
    return fmt::format("0x{:x}", value);
  }

  std::string address8(std::size_t offset, std::uint64_t value) const {
    if (record_[offset + 7] != 0) return pseudo8(offset, value);
    return fmt::format("0x{:x}<{}>", value, context_.locator.text(value));
  }

  void decode_field(const Field& field) {
    const std::uint64_t value = load_field(record_, field);
    const bool second_events = record_[0] == isa::op_event_semaphore;
    if (second_events) {
      const std::uint8_t mode =
          record_[(field.offset & 3u) >= 2 || field.offset == 0x28 ? 0x22 : 0x20];
      if (mode != 0) cover(field.offset, field.width);
      return;
    }
    cover(field.offset, field.width);
    switch (field.kind) {
      case FieldKind::pattern3:
        return add(field.name, pattern(record_, field.offset, 3));
      case FieldKind::pattern4:
        return add(field.name, pattern(record_, field.offset, 4));
      case FieldKind::text: {
        const std::string_view raw = as_text(record_.subspan(field.offset, field.width));
        const std::size_t end = raw.find('\0');
        for (std::size_t i = end; i < raw.size(); ++i) {  // what lies behind the NUL is not text
          if (raw[i] != 0) described_.reset(field.offset + i);
        }
        return add(field.name, one_line(raw.substr(0, end)));
      }
      case FieldKind::address8:
        return add(field.name, address8(field.offset, value));
      case FieldKind::pseudo8:
        return add(field.name, pseudo8(field.offset, value));
      case FieldKind::reg:
        return add(field.name, fmt::format("0x{:x}<{}>", value, context_.locator.text(value)));
      case FieldKind::variable:
        return add(field.name, variable(value));
      case FieldKind::label:
        return add(field.name, fmt::format("L{}", value));
      case FieldKind::pair32:
        if (record_[0x0E] == move_immediate && record_[0x0C] == 2 && value >> 32 != 0) {
          return add(field.name, fmt::format("0x{:x}<{}>", value, context_.locator.text(value)));
        }
        break;
      case FieldKind::scalar:
        if (record_[field.selector] == field.pointer_code) {
          return add(field.name, "[" + address4(static_cast<std::uint32_t>(value)) + "]");
        }
        break;
      default:
        break;
    }
    if (value != 0) add(field.name, scalar(field, value));
  }

  std::string scalar(const Field& field, std::uint64_t value) const {
    switch (field.kind) {
      case FieldKind::dtype:
        return named(isa::dtype_name(static_cast<std::uint32_t>(value)), value);
      case FieldKind::dtype_pair:
        return named(isa::dtype_name(value & 0xF), value & 0xF) + "," +
               named(isa::dtype_name(value >> 4 & 0xF), value >> 4);
      case FieldKind::alu_op:
        return named(isa::alu_op_name(static_cast<std::uint32_t>(value)), value);
      case FieldKind::scalar:
        return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(value)));
      case FieldKind::address4:
        return address4(static_cast<std::uint32_t>(value));
      case FieldKind::signed_number:
        return fmt::format("{}", signed_value(value, field.width));
      case FieldKind::number:
        return fmt::format("{}", value);
      default:
        return fmt::format("0x{:x}", value);
    }
  }

  Bytes record_;
  const DisassemblyContext& context_;
  std::bitset<instruction_bytes> described_;
  std::string text_, update_;
};

}  // namespace

std::string mnemonic(Arch arch, Bytes record) {
  const std::string_view name = isa::opcode_of(arch, record[0]).name;
  return fmt::format("{:02X} {}", record[0], name.empty() ? "unknown" : name);
}

std::string disassemble(Bytes record, const DisassemblyContext& context) {
  return Decoder(record, context).run();
}

std::vector<RecordAddress> addresses_in(Bytes record) {
  std::vector<RecordAddress> found;
  for (const Field& field : isa::fields_of(record[0])) {
    const std::uint64_t value = load_field(record, field);
    const bool plain =
        field.kind == FieldKind::reg ||
        (field.kind == FieldKind::address8 && record[field.offset + 7] == 0) ||
        (field.kind == FieldKind::pair32 && record[0x0C] == 2 && record[0x0E] == move_immediate);
    if (plain && value != 0) found.push_back({field.offset, field.name, value});
  }
  return found;
}

std::string record_hex(Bytes record) {
  std::string text;
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (i != 0 && i % 4 == 0) text += ' ';
    fmt::format_to(std::back_inserter(text), "{:02x}", record[i]);
  }
  return text;
}

}  // namespace neffld
