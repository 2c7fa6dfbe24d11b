// SPDX-License-Identifier: MIT
// Traces: what was sent to a device and what it answered, as a file that can be shown, compared and
// sent to another device. docs/traces.md describes the file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/device_file.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// Whether a pointer could be read through when the call was made.
enum class PointerState : std::uint8_t { null = 0, good = 1, bad = 2 };

/// Memory behind a user pointer of a call.
struct TracePayload {
  std::uint8_t pointer = 0;  ///< which of the command's pointers, in the order of its struct
  bool sent = false;         ///< read by the driver, else written by it
  bool has_bytes = false;    ///< `bytes` holds it all; otherwise only the hash is known
  std::uint64_t length = 0;  ///< bytes that could be read
  std::uint64_t wanted = 0;  ///< bytes the argument names; more than `length`: not all there
  std::array<std::uint8_t, 32> hash{};  ///< SHA-256, unless has_bytes
  std::vector<std::uint8_t> bytes;
};

/// One ioctl. Pointers in the argument bytes are PointerState values, never addresses; process
/// numbers of the caller are a fixed mark; padding is zero.
struct TraceCall {
  std::uint64_t number = 0;  ///< from 1
  std::uint32_t command = 0;
  PointerState argument = PointerState::good;
  std::vector<std::uint8_t> sent;      ///< the argument struct as sent
  std::vector<std::uint8_t> received;  ///< and after the call
  std::int32_t result = 0;
  bool replied = false;  ///< false: the trace ends inside this call
  std::vector<TracePayload> payloads;
  std::vector<std::string> missing;  ///< what could not be captured, in words
};

/// A mapping made or taken back, or a fact about the recording.
struct TraceMapping {
  std::uint64_t offset = 0, length = 0;
  bool writable = false, mapped = true, succeeded = true;
};
struct TraceInfo {
  std::string key, value;
};

/// What a trace tells next: exactly one of the three is set.
struct TraceEvent {
  std::optional<TraceCall> call;
  std::optional<TraceMapping> mapping;
  std::optional<TraceInfo> info;
};

struct TraceOptions {
  bool keep_data = false;  ///< keep what buffer copies carry, not only its hash
  /// Bring every call to the disk before it is made: a driver that takes the machine down with it
  /// leaves a trace whose last call is the culprit.
  bool durable = false;
};

/// Writes a trace file: into a new file PATH.part (.part2 and so on if there is one), which gets
/// its name when it is finished; what was at PATH stays until then. A recorder that dies leaves the
/// part file, which tells the calls up to then; one that cannot be written is removed. If PATH is a
/// device or a pipe it is written to directly. Failures to write never disturb the calls being
/// recorded; they are kept and told by finish().
class TraceWriter {
 public:
  static Result<std::shared_ptr<TraceWriter>> create(const std::string& path,
                                                     const TraceOptions& options = {});
  virtual ~TraceWriter() = default;
  virtual const TraceOptions& options() const noexcept = 0;
  virtual void info(std::string_view key, std::string_view value) noexcept = 0;
  /// The call is about to be made: writes its number, argument and sent payloads.
  virtual void begin(const TraceCall& call) noexcept = 0;
  /// The call is back: writes its result, the argument and the received payloads.
  virtual void end(const TraceCall& call) noexcept = 0;
  virtual void mapping(const TraceMapping& mapping) noexcept = 0;
  /// Ends the file. Error: class file, the first that happened. Also done on destruction.
  virtual Result<void> finish() = 0;
};

/// Reads a trace piece by piece with bounded memory. Any byte sequence is safe to read.
class TraceReader {
 public:
  /// Fills the span from its start; fewer bytes than asked for = the end.
  using Source = std::function<Result<std::size_t>(MutableBytes)>;

  /// A regular file.
  static Result<std::unique_ptr<TraceReader>> open(const std::string& path);
  /// `name` is for messages.
  static Result<std::unique_ptr<TraceReader>> from_bytes(Bytes bytes, std::string name = "trace");
  static Result<std::unique_ptr<TraceReader>> create(Source source, std::string name);
  virtual ~TraceReader() = default;
  /// The next event; null after the end. Errors: class file or format, naming the record. A call
  /// the file ends in comes first, with `replied` false.
  virtual Result<std::unique_ptr<TraceEvent>> next() = 0;
};

/// Passes calls on and writes them to a trace. Calls are made one at a time, so that a trace has
/// one order.
std::unique_ptr<DeviceFile> record_calls(std::unique_ptr<DeviceFile> device,
                                         std::shared_ptr<TraceWriter> writer);

/// One line: number, command, named fields, result, what came back. Text that a trace holds is
/// printed with everything escaped that could move the cursor or change the order of letters.
std::string to_line(const TraceCall& call);
std::string to_line(const TraceMapping& mapping);
std::string to_line(const TraceInfo& info);

/// A place where two runs differ.
struct TraceDifference {
  std::uint64_t call = 0;     ///< number in the first trace
  std::string command, what;  ///< "MEM_ALLOC_V2MT64", "mem_handle"
  std::string first, second;  ///< both values in words
};
std::string to_line(const TraceDifference& difference);

struct CompareOptions {
  bool all = false;  ///< go on after the first call that differs
  /// Of replays: handles and addresses must be the recorded ones. Otherwise the device may hand out
  /// others, which then stand for the recorded ones in later calls and replies; from then on
  /// contents of memory are not compared, for addresses in them may differ.
  bool literal = false;
};

struct CompareReport {
  std::uint64_t calls = 0;         ///< calls compared
  std::uint64_t not_compared = 0;  ///< payloads whose bytes one side does not know
  std::uint64_t translated = 0;    ///< handles and addresses other than the recorded ones
  std::vector<TraceDifference> differences;
};

/// Compares two traces call by call: commands, arguments, payloads, replies.
Result<CompareReport> diff_traces(TraceReader& first, TraceReader& second,
                                  const CompareOptions& options = {});

/// Sends a trace's calls to a device and compares every reply. Pointers get fresh memory that ends
/// at an unmapped page. Buffers whose bytes the trace does not hold are sent as zeros, and what
/// comes back in such buffers is not compared.
Result<CompareReport> replay_trace(TraceReader& trace, DeviceFile& device,
                                   const CompareOptions& options = {});

}  // namespace neffld
