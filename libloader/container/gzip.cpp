// SPDX-License-Identifier: MIT
#include "gzip.hpp"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>

#include "zero_tail.hpp"

namespace neffld {
namespace {

constexpr std::size_t fixed_header_bytes = 10;
constexpr std::size_t trailer_bytes = 8;
enum Flag : std::uint8_t { f_hcrc = 2, f_extra = 4, f_name = 8, f_comment = 16, f_reserved = 0xE0 };

/// Real files inflate 5.8 to 11.1 times (spec 08 section 1.3); more than that grows the arena.
constexpr std::size_t expected_ratio = 16;
/// Output per call: small enough that ISA-L's checksum pass finds the bytes still in the cache,
/// large enough that its 64 KiB detour through the internal buffer at each start does not count.
constexpr std::size_t output_step = std::size_t{1} << 20;
constexpr std::size_t input_step = std::size_t{1} << 30;

Where at(std::uint64_t offset) {
  return Where{"gzip payload", "", std::nullopt, offset};
}

/// Reads the fields of a gzip header in order; every step checks the bounds.
class HeaderCursor {
 public:
  explicit HeaderCursor(Bytes payload) : payload_(payload) {}

  std::size_t offset() const { return offset_; }
  bool skip(std::size_t count) {
    if (count > payload_.size() - offset_) return false;
    offset_ += count;
    return true;
  }
  bool skip_extra() {
    if (payload_.size() - offset_ < 2) return false;
    return skip(std::size_t{2} + load_le<std::uint16_t>(payload_, offset_));
  }
  bool skip_text() {
    const auto begin = payload_.begin() + static_cast<std::ptrdiff_t>(offset_);
    const auto nul = std::find(begin, payload_.end(), 0);
    if (nul == payload_.end()) return false;
    offset_ += static_cast<std::size_t>(nul - begin) + 1;
    return true;
  }

 private:
  Bytes payload_;
  std::size_t offset_ = 0;
};

tl::unexpected<Error> truncated_header(Bytes payload) {
  return invalid(at(payload.size()),
                 "truncated gzip input: the payload ends inside the gzip header");
}

Result<void> check_header_crc(Bytes payload, std::size_t offset) {
  const auto expected = load_le<std::uint16_t>(payload, offset);
  const auto found =
      static_cast<std::uint16_t>(crc32_gzip_refl(0, payload.data(), offset) & 0xFFFF);
  if (expected == found) return {};
  return invalid(
      at(offset),
      fmt::format("gzip header CRC mismatch: expected 0x{:04x}, got 0x{:04x}", expected, found));
}

/// Offset of the deflate data (RFC 1952 section 2.3).
Result<std::size_t> skip_gzip_header(Bytes payload) {
  HeaderCursor cursor(payload);
  if (!cursor.skip(fixed_header_bytes)) return truncated_header(payload);
  if (payload[2] != 8) {
    return invalid(at(2), fmt::format("gzip compression method {} is unknown, only 8 (deflate) is "
                                      "defined",
                                      payload[2]));
  }
  const std::uint8_t flags = payload[3];
  if ((flags & f_reserved) != 0) {
    return invalid(at(3),
                   fmt::format("gzip flags 0x{:02x} use reserved bits, which must be zero", flags));
  }
  const bool complete = ((flags & f_extra) == 0 || cursor.skip_extra()) &&
                        ((flags & f_name) == 0 || cursor.skip_text()) &&
                        ((flags & f_comment) == 0 || cursor.skip_text());
  if (!complete) return truncated_header(payload);
  if ((flags & f_hcrc) != 0) {
    const std::size_t crc_offset = cursor.offset();
    if (!cursor.skip(2)) return truncated_header(payload);
    NEFFLD_TRY(check_header_crc(payload, crc_offset));
  }
  return cursor.offset();
}

const char* inflate_fault(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid deflate block";
    case ISAL_INVALID_SYMBOL:
      return "invalid deflate symbol";
    case ISAL_INVALID_LOOKBACK:
      return "distance reaches before the start of the data";
    default:
      return "invalid deflate data";
  }
}

/// Runs ISA-L over a deflate stream whose output size is unknown.
class Inflater {
 public:
  Inflater(Bytes payload, std::size_t begin, std::uint64_t limit)
      : payload_(payload), input_(begin), limit_(limit), state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
    // Raw deflate, but keep the CRC of the output: header and trailer are checked here.
    state_->crc_flag = ISAL_GZIP_NO_HDR;
  }

  Result<void> run(Arena& arena) {
    while (state_->block_state != ISAL_BLOCK_FINISH) {
      if (output_ == arena.bytes().size()) NEFFLD_TRY(arena.grow());
      NEFFLD_TRY(step(arena.bytes().subspan(output_)));
      if (output_ > limit_) {
        return fail(Status::resource, ErrorClass::resource, at(input_),
                    fmt::format("the payload inflates to more than {} bytes, the limit", limit_));
      }
    }
    return {};
  }

  std::uint64_t output_size() const { return output_; }
  std::uint32_t crc() const { return state_->crc; }
  /// First byte behind the deflate data: whole bytes still in the bit buffer were not used.
  std::size_t end() const {
    return input_ - static_cast<std::size_t>(std::max(state_->read_in_length, 0) / 8);
  }

 private:
  Result<void> step(MutableBytes room) {
    const std::size_t offered_in = std::min(payload_.size() - input_, input_step);
    const std::size_t offered_out = std::min(room.size(), output_step);
    // ISA-L does not write to its input; its interface lacks the const.
    state_->next_in = const_cast<std::uint8_t*>(payload_.data()) + input_;
    state_->avail_in = static_cast<std::uint32_t>(offered_in);
    state_->next_out = room.data();
    state_->avail_out = static_cast<std::uint32_t>(offered_out);
    const int code = isal_inflate(state_.get());
    const std::size_t used = offered_in - state_->avail_in;
    const std::size_t made = offered_out - state_->avail_out;
    input_ += used;
    output_ += made;
    if (code < 0) {
      return invalid(at(input_), fmt::format("gzip decompression failed: {}", inflate_fault(code)));
    }
    if (used == 0 && made == 0 && state_->block_state != ISAL_BLOCK_FINISH) {
      return invalid(at(payload_.size()),
                     fmt::format("truncated gzip input: the payload ends inside the compressed "
                                 "data, after {} inflated bytes",
                                 output_));
    }
    return {};
  }

  Bytes payload_;
  std::size_t input_;
  std::uint64_t output_ = 0;
  std::uint64_t limit_;
  std::unique_ptr<inflate_state> state_;
};

/// CRC-32 and length, which libarchive's reader skips: without them most damaged payloads load.
Result<void> check_trailer(Bytes payload, std::size_t offset, std::uint32_t crc,
                           std::uint64_t size) {
  if (payload.size() - offset < trailer_bytes) {
    return invalid(at(payload.size()), "truncated gzip input: the payload ends inside the trailer");
  }
  const auto expected_crc = load_le<std::uint32_t>(payload, offset);
  if (expected_crc != crc) {
    return invalid(at(offset), fmt::format("gzip CRC mismatch: expected 0x{:08x}, got 0x{:08x}; "
                                           "the payload is damaged",
                                           expected_crc, crc));
  }
  const auto expected_size = load_le<std::uint32_t>(payload, offset + 4);
  const auto found_size = static_cast<std::uint32_t>(size);
  if (expected_size != found_size) {
    return invalid(at(offset + 4),
                   fmt::format("gzip length mismatch: expected {} (modulo 2^32), got {}; the "
                               "payload is damaged",
                               expected_size, found_size));
  }
  return {};
}

/// Real files are padded with zeros to a multiple of 10240 inside data_size (spec 08 s1.3).
Result<void> check_padding(Bytes payload, std::size_t begin) {
  const std::size_t found = first_nonzero(payload, begin);
  if (found == payload.size()) return {};
  if (is_gzip(payload.subspan(found))) {
    return invalid(at(found),
                   "a second gzip member starts here; a NEFF payload is one gzip member");
  }
  return invalid(
      at(found),
      fmt::format("byte 0x{:02x} behind the gzip stream; only zero padding may follow it",
                  payload[found]));
}

}  // namespace

bool is_gzip(Bytes payload) {
  return payload.size() >= 2 && payload[0] == 0x1F && payload[1] == 0x8B;
}

Result<Inflated> inflate_payload(Bytes payload, std::uint64_t limit) {
  NEFFLD_ASSIGN(const std::size_t data_begin, skip_gzip_header(payload));
  Inflated out;
  const std::uint64_t expected = std::min<std::uint64_t>(limit, payload.size() * expected_ratio);
  NEFFLD_ASSIGN(out.arena, Arena::reserve(static_cast<std::size_t>(expected)));
  Inflater inflater(payload, data_begin, limit);
  NEFFLD_TRY(inflater.run(out.arena));
  out.size = inflater.output_size();
  const std::size_t trailer = inflater.end();
  NEFFLD_TRY(check_trailer(payload, trailer, inflater.crc(), out.size));
  out.gzip_bytes = trailer + trailer_bytes;
  NEFFLD_TRY(check_padding(payload, trailer + trailer_bytes));
  out.padding_bytes = payload.size() - out.gzip_bytes;
  out.arena.trim(static_cast<std::size_t>(out.size));
  return out;
}

}  // namespace neffld
