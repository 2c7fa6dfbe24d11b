// SPDX-License-Identifier: MIT
// One row a command: the fields of its argument, the memory its user pointers name, in which
// direction it flows and how long it is. Recorder, replayer, printer and gate all read this table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "neffld/bytes.hpp"

namespace neffld::shim {

enum class FieldKind : std::uint8_t {
  number,
  hex,       ///< an address, an offset or bits
  pid,       ///< a process number; the recorder writes its own as `own_pid`
  pointer,   ///< a user pointer; the recorder writes what it points to, never where
  changing,  ///< differs from run to run: a kernel address, an uninitialised word
};

/// Stands for the process number of whoever sends the calls.
inline constexpr std::uint32_t own_pid = 0x7FFFFFFF;

struct CommandField {
  const char* name;
  std::uint32_t offset, bytes;
  FieldKind kind;
  bool reply;  ///< written by the driver
};

/// A number of bytes: `base`, plus `unit` for each of the count that lies in the argument. `width`
/// 0 = there is no count.
struct Length {
  std::uint32_t base = 0, offset = 0, width = 0, unit = 0;
  /// Saturates instead of wrapping: counts come from callers and from trace files.
  std::uint64_t of(Bytes argument) const;
};

/// Which way the memory behind a pointer flows: read by the driver (`sent`), written by it, or as a
/// 32-bit field of the argument says (not 0 = sent).
struct Direction {
  bool sent = false;
  std::uint32_t field = 0;  ///< offset of that field, 0 = none
  bool is_sent(Bytes argument) const;
};

enum class Payload : std::uint8_t {
  structure,  ///< handles, states, descriptors: always kept as bytes
  contents,   ///< a model's data: a hash unless asked otherwise
};

struct PointerRule {
  std::uint32_t offset;  ///< of the pointer in the argument
  Direction direction;
  Payload payload;
  Length room;    ///< bytes the caller provides
  Length filled;  ///< bytes the driver has written after a success; counts of the reply
  Length skip;    ///< bytes between where the pointer points and where the payload starts
};

/// Records inside the argument, behind its head.
struct Repeat {
  std::uint32_t offset = 0, stride = 0;  ///< stride 0 = the command has none
  std::uint32_t count_offset = 0, limit = 0;
  bool behind = false;  ///< they lie behind the argument's own size (GET_ALL_APPS_INFO)
  std::vector<CommandField> fields;
};

struct CommandInfo {
  std::uint32_t value;
  const char* name;
  std::uint32_t bytes;  ///< true size of the argument struct, not the encoded one
  std::vector<CommandField> fields;
  std::vector<PointerRule> pointers;
  Repeat repeat;

  /// Records in this argument, bounded by the table's limit.
  std::uint32_t records(Bytes argument) const;
  /// Bytes of the argument with the records behind it.
  std::uint64_t argument_bytes(Bytes head) const;
};

/// The largest argument a command may have: the queue batch.
inline constexpr std::uint32_t max_argument_bytes = 16384;

std::vector<CommandInfo> device_commands();
std::vector<CommandInfo> memory_commands();
std::vector<CommandInfo> dma_commands();

std::span<const CommandInfo> all_commands();
/// The row of a full command value, or null. Values are compared whole (spec 06 section 3).
const CommandInfo* find_command(std::uint32_t value);

/// An unsigned field of up to 8 bytes; 0 if it lies outside.
std::uint64_t field_value(Bytes argument, std::uint32_t offset, std::uint32_t bytes);
void set_field(MutableBytes argument, std::uint32_t offset, std::uint32_t bytes,
               std::uint64_t value);

/// Calls `visit(field, offset, record)` for the argument's fields and those of its records; record
/// is -1 for the head.
template <class Visit>
void for_each_field(const CommandInfo& info, Bytes argument, Visit visit) {
  for (const CommandField& field : info.fields) visit(field, field.offset, -1);
  const std::uint32_t records = info.records(argument);
  for (std::uint32_t record = 0; record < records; ++record) {
    const std::uint32_t base = info.repeat.offset + record * info.repeat.stride;
    for (const CommandField& field : info.repeat.fields) {
      visit(field, base + field.offset, static_cast<int>(record));
    }
  }
}

}  // namespace neffld::shim
