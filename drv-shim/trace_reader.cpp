// SPDX-License-Identifier: MIT
// Reading a trace: bytes -> zstd -> records -> events. Every length is checked before it is used,
// memory grows only with bytes that are really there.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "command_table.hpp"
#include "neffld/trace.hpp"
#include "no_throw.hpp"
#include "trace_format.hpp"

namespace neffld {
namespace {

using namespace shim;

constexpr int max_window_log = 25;  // our writer uses 21

/// The plain bytes of the file's zstd frame.
class Inflater {
 public:
  explicit Inflater(TraceReader::Source source)
      : source_(std::move(source)),
        stream_(ZSTD_createDStream(), &ZSTD_freeDStream),
        input_(ZSTD_DStreamInSize()) {
    if (!stream_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, max_window_log);
  }

  /// Bytes of the file as they are, before the frame.
  Result<std::size_t> plain(MutableBytes out) { return source_(out); }

  /// Fills `out`; fewer bytes = the frame is over or the file ends.
  Result<std::size_t> read(MutableBytes out) {
    std::size_t done = 0;
    while (done < out.size() && !frame_over_) {
      ZSTD_outBuffer buffer{out.data() + done, out.size() - done, 0};
      NEFFLD_ASSIGN(const bool more, step(buffer));
      done += buffer.pos;
      if (!more) break;
    }
    return done;
  }

  /// True when the frame, its checksum included, is complete and nothing follows it.
  Result<bool> is_whole() {
    std::uint8_t extra = 0;
    NEFFLD_ASSIGN(const std::size_t more, read({&extra, 1}));
    if (more != 0 || !frame_over_ || in_.pos < in_.size) return false;
    NEFFLD_ASSIGN(const std::size_t behind, source_({&extra, 1}));
    return behind == 0;
  }

 private:
  /// One turn of the decoder; false when the file has no more bytes.
  Result<bool> step(ZSTD_outBuffer& out) {
    if (in_.pos == in_.size && !file_over_) {
      NEFFLD_ASSIGN(const std::size_t count, source_(input_));
      file_over_ = count < input_.size();
      in_ = {input_.data(), count, 0};
    }
    const std::size_t before = in_.pos;
    const std::size_t rest = ZSTD_decompressStream(stream_.get(), &out, &in_);
    if (ZSTD_getErrorCode(rest) == ZSTD_error_memory_allocation) return host_shortage();
    if (ZSTD_isError(rest)) {
      return invalid({},
                     fmt::format("the compressed data is damaged: {}", ZSTD_getErrorName(rest)));
    }
    frame_over_ = rest == 0;
    return frame_over_ || out.pos > 0 || in_.pos > before || in_.pos < in_.size || !file_over_;
  }

  TraceReader::Source source_;
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream_;
  std::vector<std::uint8_t> input_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool file_over_ = false, frame_over_ = false;
};

/// Splits a record's body into its fixed head and the rest.
template <class T>
Result<std::pair<T, Bytes>> split(Bytes body) {
  if (body.size() < sizeof(T)) {
    return invalid({}, fmt::format("found {} bytes, expected at least {}", body.size(), sizeof(T)));
  }
  T head;
  std::memcpy(&head, body.data(), sizeof head);
  return std::pair(head, body.subspan(sizeof head));
}

class Reader final : public TraceReader {
 public:
  Reader(Source source, std::string name) : input_(std::move(source)), name_(std::move(name)) {}

  Result<void> check_head() {
    TraceHead head{};
    NEFFLD_ASSIGN(const std::size_t count,
                  input_.plain({reinterpret_cast<std::uint8_t*>(&head), sizeof head}));
    if (count < sizeof head || std::memcmp(head.magic, trace_magic, sizeof trace_magic) != 0) {
      return invalid({.member = name_}, "is no neffld trace: it does not begin with NEFFLDTR");
    }
    if (head.major != trace_major) {
      return unsupported(
          {.member = name_},
          fmt::format("has trace version {}.{}, this program reads {}.x; record it "
                      "again, or use the program of the version that made it",
                      std::uint16_t{head.major}, std::uint16_t{head.minor}, trace_major));
    }
    return {};
  }

  Result<std::unique_ptr<TraceEvent>> next() override {
    return no_throw([&]() -> Result<std::unique_ptr<TraceEvent>> {
      if (failed_) return tl::unexpected<Error>(std::exchange(failed_, std::nullopt).value());
      if (over_) return nullptr;
      auto event = read_event();
      if (event) return event;
      over_ = true;
      if (event.error().where.member.empty()) event.error().where.member = name_;
      if (!call_) return event;
      // The open call is what a crash of the driver leaves: hand it out, then the reason.
      failed_ = std::move(event.error());
      auto open = std::make_unique<TraceEvent>();
      open->call = std::exchange(call_, std::nullopt);
      return open;
    });
  }

 private:
  Result<std::unique_ptr<TraceEvent>> read_event() {
    for (;;) {
      NEFFLD_TRY(read_record());
      auto event = std::make_unique<TraceEvent>();
      auto handled = handle(*event);
      if (!handled) {
        handled.error().where.record = records_;
        return tl::unexpected<Error>(std::move(handled.error()));
      }
      if (over_) return nullptr;
      if (*handled) return event;
    }
  }

  /// The next record into head_ and body_.
  Result<void> read_record() {
    ++records_;
    NEFFLD_ASSIGN(const std::size_t count,
                  input_.read({reinterpret_cast<std::uint8_t*>(&head_), sizeof head_}));
    if (count < sizeof head_) return truncated();
    if (head_.length > max_record_bytes) {
      return invalid({{}, {}, records_, {}},
                     fmt::format("found a length of {} bytes, expected at "
                                 "most {}",
                                 std::uint32_t{head_.length}, max_record_bytes));
    }
    body_.resize(head_.length);
    NEFFLD_ASSIGN(const std::size_t arrived, input_.read(body_));
    if (arrived < body_.size()) return truncated();
    return {};
  }

  tl::unexpected<Error> truncated() const {
    return invalid({{}, {}, records_, {}},
                   "the trace ends here, before its end record: the program that recorded it was "
                   "stopped, or the file was cut");
  }

  /// True when `event` is complete.
  Result<bool> handle(TraceEvent& event) {
    switch (static_cast<RecordType>(std::uint16_t{head_.type})) {
      case RecordType::info:
        return info(event);
      case RecordType::call:
        return begin();
      case RecordType::data:
        return data();
      case RecordType::missing:
        return missing();
      case RecordType::reply:
        return reply(event);
      case RecordType::mapping:
        return mapping(event);
      case RecordType::end:
        return end();
    }
    if (head_.flags & record_optional) return false;
    return unsupported({}, fmt::format("found record type {}, which this program does not know and "
                                       "which is not optional",
                                       std::uint16_t{head_.type}));
  }

  Result<bool> info(TraceEvent& event) {
    const std::string_view text = as_text(body_);
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return invalid({}, "an info record has no key");
    event.info = {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
    return true;
  }

  Result<bool> begin() {
    if (call_) return invalid({}, "a call begins before the last one has its reply");
    NEFFLD_ASSIGN(const auto parts, split<CallRecord>(body_));
    const auto& [head, argument] = parts;
    if (head.number != calls_ + 1) {
      return invalid(
          {}, fmt::format("found call {}, expected {}", std::uint64_t{head.number}, calls_ + 1));
    }
    if (head.argument > static_cast<std::uint8_t>(PointerState::bad)) {
      return invalid({}, fmt::format("found argument state {}, expected 0 to 2", head.argument));
    }
    if (argument.size() > max_argument_bytes) {
      return invalid({}, fmt::format("found an argument of {} bytes, expected at most {}",
                                     argument.size(), max_argument_bytes));
    }
    TraceCall call;
    call.number = head.number;
    call.command = head.command;
    call.argument = static_cast<PointerState>(head.argument);
    call.sent.assign(argument.begin(), argument.end());
    call_ = std::move(call);
    call_bytes_ = 0;
    ++calls_;
    return false;
  }

  /// The open call, if the record belongs to it.
  Result<TraceCall*> open_call(std::uint64_t number) {
    if (!call_ || call_->number != number) {
      return invalid({}, fmt::format("a record belongs to call {}, which is not open", number));
    }
    return &*call_;
  }

  Result<bool> data() {
    NEFFLD_ASSIGN(const auto parts, split<DataRecord>(body_));
    const auto& [head, bytes] = parts;
    NEFFLD_ASSIGN(TraceCall * call, open_call(head.number));
    auto& payloads = call->payloads;
    const bool same = !payloads.empty() && payloads.back().pointer == head.pointer &&
                      payloads.back().sent == (head.sent != 0);
    if (!same) {
      if (payloads.size() >= 8) return invalid({}, "a call has more than 8 payloads");
      TracePayload fresh;
      fresh.pointer = head.pointer;
      fresh.sent = head.sent != 0;
      fresh.length = fresh.wanted = head.length;
      fresh.has_bytes = !head.hashed;
      payloads.push_back(fresh);
    }
    TracePayload& payload = payloads.back();
    if (payload.length != head.length || payload.has_bytes != !head.hashed) {
      return invalid({}, "two pieces of a payload disagree about it");
    }
    if (!head.hashed) return piece(payload, head.offset, bytes);
    if (bytes.size() != payload.hash.size() || same) {
      return invalid({}, fmt::format("found a hash of {} bytes, expected one of 32", bytes.size()));
    }
    std::copy(bytes.begin(), bytes.end(), payload.hash.begin());
    return false;
  }

  Result<bool> piece(TracePayload& payload, std::uint64_t offset, Bytes bytes) {
    if (offset != payload.bytes.size() || bytes.size() > payload.length - offset) {
      return invalid({}, fmt::format("a payload's piece of {} bytes at {} does not continue it",
                                     bytes.size(), offset));
    }
    call_bytes_ += bytes.size();
    if (call_bytes_ > max_call_payload_bytes) {
      return invalid({}, fmt::format("a call carries more than {} bytes", max_call_payload_bytes));
    }
    payload.bytes.insert(payload.bytes.end(), bytes.begin(), bytes.end());
    return false;
  }

  Result<bool> missing() {
    NEFFLD_ASSIGN(const auto parts, split<MissingRecord>(body_));
    const auto& [head, text] = parts;
    NEFFLD_ASSIGN(TraceCall * call, open_call(head.number));
    if (head.pointer == no_pointer) {
      if (call->missing.size() >= 8) return invalid({}, "a call has more than 8 gaps");
      call->missing.emplace_back(as_text(text));
      return false;
    }
    for (TracePayload& payload : call->payloads) {
      if (payload.pointer == head.pointer && payload.sent == (head.sent != 0)) {
        payload.wanted = head.wanted;
      }
    }
    return false;
  }

  Result<bool> reply(TraceEvent& event) {
    NEFFLD_ASSIGN(const auto parts, split<ReplyRecord>(body_));
    const auto& [head, argument] = parts;
    NEFFLD_ASSIGN(TraceCall * call, open_call(head.number));
    for (const TracePayload& payload : call->payloads) {
      if (payload.has_bytes && payload.bytes.size() != payload.length) {
        return invalid({}, fmt::format("a payload has {} of its {} bytes", payload.bytes.size(),
                                       payload.length));
      }
    }
    if (head.changed && argument.size() != call->sent.size()) {
      return invalid({}, fmt::format("found an argument of {} bytes, it was {} when sent",
                                     argument.size(), call->sent.size()));
    }
    call->result = static_cast<std::int32_t>(std::uint32_t{head.result});
    call->received =
        head.changed ? std::vector<std::uint8_t>(argument.begin(), argument.end()) : call->sent;
    call->replied = true;
    event.call = std::exchange(call_, std::nullopt);
    return true;
  }

  Result<bool> mapping(TraceEvent& event) {
    NEFFLD_ASSIGN(const auto parts, split<MappingRecord>(body_));
    const MappingRecord& head = parts.first;
    if (call_) return invalid({}, "a mapping lies inside a call");
    event.mapping = TraceMapping{head.offset, head.length, head.writable != 0, head.mapped != 0,
                                 head.succeeded != 0};
    return true;
  }

  Result<bool> end() {
    NEFFLD_ASSIGN(const auto parts, split<EndRecord>(body_));
    if (call_) return invalid({}, "the trace ends inside a call");
    if (parts.first.calls != calls_) {
      return invalid({}, fmt::format("the end record counts {} calls, found {}",
                                     std::uint64_t{parts.first.calls}, calls_));
    }
    NEFFLD_ASSIGN(const bool whole, input_.is_whole());
    if (!whole)
      return invalid({}, "the file goes on behind the end record, or its checksum is cut");
    over_ = true;
    return true;
  }

  Inflater input_;
  std::string name_;
  RecordHead head_{};
  std::vector<std::uint8_t> body_;
  std::uint64_t records_ = 0, calls_ = 0, call_bytes_ = 0;
  std::optional<TraceCall> call_;  ///< waits for its reply
  std::optional<Error> failed_;    ///< told after the open call
  bool over_ = false;
};

}  // namespace

Result<std::unique_ptr<TraceReader>> TraceReader::create(Source source, std::string name) {
  return no_throw([&]() -> Result<std::unique_ptr<TraceReader>> {
    auto reader = std::make_unique<Reader>(std::move(source), std::move(name));
    NEFFLD_TRY(reader->check_head());
    return reader;
  });
}

Result<std::unique_ptr<TraceReader>> TraceReader::from_bytes(Bytes bytes, std::string name) {
  return create(
      [rest = bytes](MutableBytes out) mutable -> Result<std::size_t> {
        const std::size_t count = std::min(rest.size(), out.size());
        std::copy_n(rest.begin(), count, out.begin());
        rest = rest.subspan(count);
        return count;
      },
      std::move(name));
}

Result<std::unique_ptr<TraceReader>> TraceReader::open(const std::string& path) {
  // Without waiting for a writer, should it be a pipe.
  const int number = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  struct stat status {};
  if (number >= 0 && ::fstat(number, &status) == 0 && !S_ISREG(status.st_mode)) {
    ::close(number);
    return fail(Status::invalid, ErrorClass::file, {.member = path},
                "a trace must be a regular file");
  }
  std::shared_ptr<std::FILE> file(number < 0 ? nullptr : ::fdopen(number, "rb"),
                                  [](std::FILE* open) { return open ? std::fclose(open) : 0; });
  if (!file) {
    return fail(Status::invalid, ErrorClass::file, {.member = path},
                fmt::format("cannot open the trace: {}", std::strerror(errno)));
  }
  return create(
      [file, path](MutableBytes out) -> Result<std::size_t> {
        const std::size_t count = std::fread(out.data(), 1, out.size(), file.get());
        if (count == out.size() || !std::ferror(file.get())) return count;
        return fail(Status::invalid, ErrorClass::file, {.member = path},
                    fmt::format("cannot read the trace: {}", std::strerror(errno)));
      },
      path);
}

}  // namespace neffld
