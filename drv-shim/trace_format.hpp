// SPDX-License-Identifier: MIT
// The trace file: a plain 16-byte head, then one zstd frame of typed records. docs/traces.md has
// the same in words.
#pragma once

#include <cstdint>

#include "neffld/bytes.hpp"

namespace neffld::shim {

inline constexpr char trace_magic[8] = {'N', 'E', 'F', 'F', 'L', 'D', 'T', 'R'};
/// A new major version means old readers cannot read the file; a new minor version only adds
/// optional records.
inline constexpr std::uint16_t trace_major = 1, trace_minor = 0;

struct TraceHead {
  char magic[8];
  Le16 major, minor;
  Le32 reserved;  ///< 0
};
static_assert(sizeof(TraceHead) == 16);

enum class RecordType : std::uint16_t {
  info = 1,     ///< key, NUL, value
  call = 2,     ///< CallRecord, argument bytes
  data = 3,     ///< DataRecord, bytes or a SHA-256
  missing = 4,  ///< MissingRecord, a sentence: something was not captured
  reply = 5,    ///< ReplyRecord, argument bytes unless unchanged
  mapping = 6,  ///< MappingRecord
  end = 7,      ///< EndRecord; the last
};

inline constexpr std::uint16_t record_optional = 1;  ///< a reader that does not know it skips it

struct RecordHead {
  Le16 type, flags;
  Le32 length;  ///< of what follows
};
static_assert(sizeof(RecordHead) == 8);

struct CallRecord {
  Le64 number;
  Le32 command;
  std::uint8_t argument;  ///< PointerState
  std::uint8_t reserved[3];
};
static_assert(sizeof(CallRecord) == 16);

/// A piece of a payload, or its hash. Pieces come in order, without gaps.
struct DataRecord {
  Le64 number;
  std::uint8_t pointer, sent, hashed, reserved;
  Le64 offset;  ///< of the piece; 0 if hashed
  Le64 length;  ///< of the whole payload
};
static_assert(sizeof(DataRecord) == 28);

struct MissingRecord {
  Le64 number;
  std::uint8_t pointer, sent;  ///< pointer 255 = the argument itself or something else
  Le64 wanted;                 ///< bytes the argument names
};
static_assert(sizeof(MissingRecord) == 18);
inline constexpr std::uint8_t no_pointer = 255;

struct ReplyRecord {
  Le64 number;
  Le32 result;
  std::uint8_t changed;  ///< argument bytes follow
};
static_assert(sizeof(ReplyRecord) == 13);

struct MappingRecord {
  Le64 offset, length;
  std::uint8_t writable, mapped, succeeded;
};
static_assert(sizeof(MappingRecord) == 19);

struct EndRecord {
  Le64 calls;
};

inline constexpr std::uint32_t data_piece_bytes = 1u << 20;
inline constexpr std::uint32_t max_record_bytes = data_piece_bytes + 4096;
/// A copy carries at most 1 GiB (decision 34); a call of a trace no more than that and change.
inline constexpr std::uint64_t max_call_payload_bytes = (1ull << 30) + (64ull << 20);

}  // namespace neffld::shim
