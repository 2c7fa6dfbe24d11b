// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "neffld/trace.hpp"
#include "no_throw.hpp"
#include "trace_format.hpp"

namespace neffld {
namespace {

using namespace shim;

constexpr int zstd_level = 3;

template <class T>
Bytes bytes_of(const T& record) {
  return {reinterpret_cast<const std::uint8_t*>(&record), sizeof record};
}

tl::unexpected<Error> write_error(const std::string& path, std::string text) {
  return fail(Status::failure, ErrorClass::file, {.member = path}, std::move(text));
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// What a trace is written to.
struct Target {
  File file{nullptr, &std::fclose};
  std::string part;  ///< its name until it is finished; empty = written where it belongs
};

constexpr int most_parts = 100;

/// The name of `path` with `end`, cut where together they are too long for a file.
std::string part_name(const std::string& path, const std::string& end) {
  const std::size_t begin = path.rfind('/') + 1;  // 0 if there is none
  return path.substr(0, begin + std::min(path.size() - begin, NAME_MAX - end.size())) + end;
}

Result<Target> open_target(const std::string& path) {
  struct stat status {};
  Target target;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    // Without waiting for a reader, should it be a pipe.
    const int number = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (number >= 0) ::fcntl(number, F_SETFL, 0);
    target.file.reset(number < 0 ? nullptr : ::fdopen(number, "wb"));
  } else if (path.size() - (path.rfind('/') + 1) > NAME_MAX) {
    errno = ENAMETOOLONG;  // a part of it could be created, and never take its name
  } else {
    int number = -1;
    for (int part = 1; part <= most_parts && (part == 1 || errno == EEXIST); ++part) {
      target.part = part_name(path, part == 1 ? ".part" : fmt::format(".part{}", part));
      number = ::open(target.part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (number >= 0) break;
    }
    target.file.reset(number < 0 ? nullptr : ::fdopen(number, "wb"));
  }
  if (target.file) return target;
  return write_error(path, fmt::format("cannot create the trace: {}", std::strerror(errno)));
}

/// A file that takes bytes through a zstd frame.
class Stream {
 public:
  Stream(Target target, std::string path)
      : file_(std::move(target.file)),
        part_(std::move(target.part)),
        path_(std::move(path)),
        stream_(ZSTD_createCStream(), &ZSTD_freeCStream),
        compressed_(ZSTD_CStreamOutSize()) {
    if (!stream_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_compressionLevel, zstd_level);
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }

  Result<void> plain(Bytes bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
    return write_error(path_, fmt::format("cannot write the trace: {}", std::strerror(errno)));
  }

  Result<void> append(Bytes bytes) { return compress(bytes, ZSTD_e_continue); }

  Result<void> sync() {
    NEFFLD_TRY(compress({}, ZSTD_e_flush));
    NEFFLD_TRY(flush());
    if (fdatasync(fileno(file_.get())) == 0 || errno == EINVAL) return {};  // EINVAL: a pipe
    return write_error(path_, fmt::format("cannot write the trace: {}", std::strerror(errno)));
  }

  /// The frame is complete and in the file; the file gets its name.
  Result<void> end(bool durable) {
    NEFFLD_TRY(compress({}, ZSTD_e_end));
    NEFFLD_TRY(flush());
    if (part_.empty()) return {};
    // Nothing may rename half a file: its bytes first.
    if (durable && fdatasync(fileno(file_.get())) != 0) {
      return write_error(path_, fmt::format("cannot write the trace: {}", std::strerror(errno)));
    }
    const std::string part = std::exchange(part_, {});
    if (std::rename(part.c_str(), path_.c_str()) == 0) return {};
    return write_error(
        path_, fmt::format("cannot name the trace, which is {}: {}", part, std::strerror(errno)));
  }

  /// Removes what is written so far, unless it is a whole trace.
  void remove() noexcept {
    if (!part_.empty()) ::unlink(part_.c_str());
  }

 private:
  Result<void> flush() {
    if (std::fflush(file_.get()) == 0) return {};
    return write_error(path_, fmt::format("cannot write the trace: {}", std::strerror(errno)));
  }

  Result<void> compress(Bytes bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{compressed_.data(), compressed_.size(), 0};
      const std::size_t rest = ZSTD_compressStream2(stream_.get(), &out, &in, directive);
      if (ZSTD_getErrorCode(rest) == ZSTD_error_memory_allocation) return host_shortage();
      if (ZSTD_isError(rest)) {
        return write_error(path_, fmt::format("zstd: {}", ZSTD_getErrorName(rest)));
      }
      NEFFLD_TRY(plain(Bytes(compressed_).first(out.pos)));
      if (directive == ZSTD_e_continue ? in.pos == in.size : rest == 0) return {};
    }
  }

  File file_;
  std::string part_;  ///< the file's name until it is complete; empty: its own
  std::string path_;
  std::unique_ptr<ZSTD_CStream, std::size_t (*)(ZSTD_CStream*)> stream_;
  std::vector<std::uint8_t> compressed_;
};

class Writer final : public TraceWriter {
 public:
  Writer(Target target, const std::string& path, const TraceOptions& options)
      : stream_(std::move(target), path), options_(options) {
    TraceHead head{};
    std::memcpy(head.magic, trace_magic, sizeof trace_magic);
    head.major = trace_major;
    head.minor = trace_minor;
    keep([&] { return stream_.plain(bytes_of(head)); });
  }
  ~Writer() override { static_cast<void>(Writer::finish()); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  const TraceOptions& options() const noexcept override { return options_; }

  void info(std::string_view key, std::string_view value) noexcept override {
    keep([&] {
      std::string text(key);
      text += '\0';
      text += value.substr(0, data_piece_bytes);
      return record(RecordType::info, as_bytes(text), {});
    });
  }

  void begin(const TraceCall& call) noexcept override {
    keep([&]() -> Result<void> {
      CallRecord head{};
      head.number = call.number;
      head.command = call.command;
      head.argument = static_cast<std::uint8_t>(call.argument);
      NEFFLD_TRY(record(RecordType::call, bytes_of(head), call.sent));
      NEFFLD_TRY(payloads(call, true));
      for (const std::string& text : call.missing) NEFFLD_TRY(missing(call.number, text));
      return options_.durable ? stream_.sync() : Result<void>();
    });
    told_missing_ = call.missing.size();
  }

  void end(const TraceCall& call) noexcept override {
    keep([&]() -> Result<void> {
      NEFFLD_TRY(payloads(call, false));
      for (std::size_t i = told_missing_; i < call.missing.size(); ++i) {
        NEFFLD_TRY(missing(call.number, call.missing[i]));
      }
      ReplyRecord head{};
      head.number = call.number;
      head.result = static_cast<std::uint32_t>(call.result);
      head.changed = call.received != call.sent;
      ++calls_;
      return record(RecordType::reply, bytes_of(head),
                    head.changed ? Bytes(call.received) : Bytes());
    });
  }

  void mapping(const TraceMapping& mapping) noexcept override {
    keep([&] {
      MappingRecord head{};
      head.offset = mapping.offset;
      head.length = mapping.length;
      head.writable = mapping.writable;
      head.mapped = mapping.mapped;
      head.succeeded = mapping.succeeded;
      return record(RecordType::mapping, bytes_of(head), {});
    });
  }

  Result<void> finish() override {
    if (!finished_) {
      keep([&]() -> Result<void> {
        NEFFLD_TRY(record(RecordType::end, bytes_of(EndRecord{calls_}), {}));
        return stream_.end(options_.durable);
      });
      finished_ = true;
      if (error_) stream_.remove();
    }
    return error_ ? Result<void>(tl::unexpected<Error>(*error_)) : Result<void>();
  }

 private:
  /// Keeps the first error and writes nothing after it.
  template <class Body>
  void keep(Body body) noexcept {
    if (error_ || finished_) return;
    if (Result<void> result = no_throw(body); !result) error_ = std::move(result.error());
  }

  Result<void> record(RecordType type, Bytes head, Bytes rest, std::uint16_t flags = 0) {
    RecordHead record{};
    record.type = static_cast<std::uint16_t>(type);
    record.flags = flags;
    record.length = static_cast<std::uint32_t>(head.size() + rest.size());
    NEFFLD_TRY(stream_.append(bytes_of(record)));
    NEFFLD_TRY(stream_.append(head));
    return rest.empty() ? Result<void>() : stream_.append(rest);
  }

  Result<void> payloads(const TraceCall& call, bool sent) {
    for (const TracePayload& payload : call.payloads) {
      if (payload.sent != sent) continue;
      NEFFLD_TRY(data(call.number, payload));
      if (payload.length == payload.wanted) continue;
      MissingRecord head{};
      head.number = call.number;
      head.pointer = payload.pointer;
      head.sent = payload.sent;
      head.wanted = payload.wanted;
      NEFFLD_TRY(record(RecordType::missing, bytes_of(head), {}, record_optional));
    }
    return {};
  }

  Result<void> data(std::uint64_t number, const TracePayload& payload) {
    DataRecord head{};
    head.number = number;
    head.pointer = payload.pointer;
    head.sent = payload.sent;
    head.hashed = !payload.has_bytes;
    head.length = payload.length;
    if (!payload.has_bytes) return record(RecordType::data, bytes_of(head), payload.hash);
    std::uint64_t done = 0;
    do {
      const auto piece = Bytes(payload.bytes).subspan(done);
      head.offset = done;
      const auto part = piece.first(std::min<std::size_t>(piece.size(), data_piece_bytes));
      NEFFLD_TRY(record(RecordType::data, bytes_of(head), part));
      done += part.size();
    } while (done < payload.bytes.size());
    return {};
  }

  Result<void> missing(std::uint64_t number, const std::string& text) {
    MissingRecord head{};
    head.number = number;
    head.pointer = no_pointer;
    return record(RecordType::missing, bytes_of(head), as_bytes(text), record_optional);
  }

  Stream stream_;
  TraceOptions options_;
  std::optional<Error> error_;
  std::uint64_t calls_ = 0;
  std::size_t told_missing_ = 0;  ///< sentences of the open call that are written
  bool finished_ = false;
};

}  // namespace

Result<std::shared_ptr<TraceWriter>> TraceWriter::create(const std::string& path,
                                                         const TraceOptions& options) {
  return no_throw([&]() -> Result<std::shared_ptr<TraceWriter>> {
    NEFFLD_ASSIGN(Target target, open_target(path));
    return std::make_shared<Writer>(std::move(target), path, options);
  });
}

}  // namespace neffld
