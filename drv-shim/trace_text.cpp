// SPDX-License-Identifier: MIT
#include "trace_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "neffld/utf8.hpp"

namespace neffld::shim {
namespace {

constexpr int records_shown = 4;  // of a batch, on one line
constexpr std::size_t bytes_shown = 16;

std::string hex(Bytes bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes.first(std::min(bytes.size(), bytes_shown))) {
    text += fmt::format("{:02x}", byte);
  }
  return bytes.size() > bytes_shown ? text + ".." : text;
}

/// A field wider than a number: its bytes, or that they are all zero.
std::string wide_value(Bytes bytes) {
  const bool zero = std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
  return zero ? "0" : hex(bytes);
}

std::string payload_value(const std::string& name, const TracePayload& payload) {
  std::string text;
  if (payload.has_bytes && payload.bytes.size() == 8) {
    text = word_value(name, field_value(payload.bytes, 0, 8));
  } else if (payload.has_bytes) {
    text = fmt::format("[{} bytes: {}]", payload.length, hex(payload.bytes));
  } else {
    text = fmt::format("[{} bytes, sha256 {}]", payload.length, hex(Bytes(payload.hash).first(8)));
  }
  return payload.length < payload.wanted ? fmt::format("{} of {} named", text, payload.wanted)
                                         : text;
}

std::string payloads(const CommandInfo& info, const TraceCall& call, bool sent) {
  std::string text;
  for (const TracePayload& payload : call.payloads) {
    if (payload.sent != sent) continue;
    const std::string name = payload.pointer < info.pointers.size()
                                 ? pointer_name(info, info.pointers[payload.pointer])
                                 : fmt::format("pointer{}", payload.pointer);
    text += fmt::format(" {}={}", name, payload_value(name, payload));
  }
  return text;
}

/// Fields sent or received, those of records in braces.
std::string fields(const CommandInfo& info, Bytes argument, bool replies) {
  std::string text;
  int open = -1;
  for_each_field(info, argument, [&](const CommandField& field, std::uint32_t offset, int record) {
    if (field.reply != replies || field.kind == FieldKind::pointer ||
        field.kind == FieldKind::changing || record >= records_shown) {
      return;
    }
    if (record != open) {
      text += fmt::format("{} [{}]", open < 0 ? "" : " ;", record);
      open = record;
    }
    text += fmt::format(" {}={}", field.name, value_of(field, offset, argument));
  });
  const auto records = static_cast<int>(info.records(argument));
  if (open >= 0 && records > records_shown) {
    text += fmt::format(" ; and {} more", records - records_shown);
  }
  return text;
}

/// Pointers that are no good have no payload to show.
std::string bad_pointers(const CommandInfo& info, Bytes argument) {
  std::string text;
  for (const PointerRule& rule : info.pointers) {
    const auto state = static_cast<PointerState>(field_value(argument, rule.offset, 8));
    if (state == PointerState::null) text += " " + pointer_name(info, rule) + "=null";
    if (state == PointerState::bad) text += " " + pointer_name(info, rule) + "=unmapped";
  }
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [length, code_point] = first_sequence(text);
    const std::size_t taken = length == 0 ? 1 : length;
    if (length == 0 || code_point < 0x20 || code_point == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[0]));
    } else if (is_unsafe(code_point)) {
      out += fmt::format("\\u{{{:x}}}", code_point);
    } else if (code_point == '\\') {
      out += "\\\\";
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

std::string command_name(std::uint32_t command) {
  const CommandInfo* info = find_command(command);
  if (info == nullptr) return fmt::format("unknown command {:#010x}", command);
  if (info->value != command) return fmt::format("{} (as {:#010x})", info->name, command);
  return info->name;
}

std::string result_name(int result) {
  if (result > 0) return fmt::format("+{}", result);
  if (result == 0) return "0";
  // INT_MIN has no negative; a trace may hold it.
  const char* name = result > -4096 ? strerrorname_np(-result) : nullptr;
  return name != nullptr ? fmt::format("-{}", name) : fmt::format("{}", result);
}

std::string value_of(const CommandField& field, std::uint32_t offset, Bytes argument) {
  if (offset > argument.size() || field.bytes > argument.size() - offset) return "?";
  if (field.bytes > 8) return wide_value(argument.subspan(offset, field.bytes));
  const std::uint64_t value = field_value(argument, offset, field.bytes);
  if (field.kind == FieldKind::hex) return fmt::format("{:#x}", value);
  if (field.kind == FieldKind::pid && value == own_pid) return "own";
  return fmt::format("{}", value);
}

std::string word_value(std::string_view name, std::uint64_t value) {
  return name.ends_with("handle") ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

std::string pointer_name(const CommandInfo& info, const PointerRule& rule) {
  for (const CommandField& field : info.fields) {
    if (field.offset != rule.offset) continue;
    const std::string_view name = field.name;
    return std::string(name.substr(0, name.size() - std::string_view("_ptr").size()));
  }
  return "pointer";
}

std::string describe_sent(const TraceCall& call) {
  std::string text = command_name(call.command);
  if (call.argument == PointerState::null) text += " argument=null";
  if (call.argument == PointerState::bad) text += " argument=unmapped";
  if (const CommandInfo* info = find_command(call.command)) {
    if (!call.sent.empty()) {
      text += fields(*info, call.sent, false) + bad_pointers(*info, call.sent);
    }
    text += payloads(*info, call, true);
  }
  return text;
}

std::string describe_reply(const TraceCall& call) {
  if (!call.replied) return "no reply: the trace ends inside this call";
  std::string text = result_name(call.result);
  const CommandInfo* info = find_command(call.command);
  if (info != nullptr && call.result == 0) {
    if (!call.received.empty()) text += fields(*info, call.received, true);
    text += payloads(*info, call, false);
  }
  return text;
}

}  // namespace neffld::shim

namespace neffld {

std::string to_line(const TraceCall& call) {
  std::string text = fmt::format("#{} {} -> {}", call.number, shim::describe_sent(call),
                                 shim::describe_reply(call));
  for (const std::string& missing : call.missing)
    text += fmt::format(" (not captured: {})", shim::printable(missing));
  return text;
}

std::string to_line(const TraceInfo& info) {
  return fmt::format("{}: {}", shim::printable(info.key), shim::printable(info.value));
}

std::string to_line(const TraceMapping& mapping) {
  if (!mapping.mapped) return fmt::format("munmap length={:#x}", mapping.length);
  return fmt::format("mmap offset={:#x} length={:#x} {} -> {} (not captured: what is stored in it)",
                     mapping.offset, mapping.length, mapping.writable ? "writable" : "read-only",
                     mapping.succeeded ? "mapped" : "failed");
}

std::string to_line(const TraceDifference& difference) {
  return fmt::format("#{} {}: {}: {} / {}", difference.call, difference.command, difference.what,
                     difference.first, difference.second);
}

}  // namespace neffld
