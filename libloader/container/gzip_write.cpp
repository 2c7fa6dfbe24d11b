// SPDX-License-Identifier: MIT
#include "gzip_write.hpp"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <zlib.h>

#include <algorithm>

namespace neffld {
namespace {

constexpr std::size_t stored_block_bytes = 65535;
/// zlib counts the bytes of one call in 32 bits.
constexpr std::size_t deflate_input_step = std::size_t{1} << 30,
                      deflate_output_step = std::size_t{1} << 20;
constexpr int gzip_window = 16 + MAX_WBITS, default_memory = 8;  // as deflateInit2() has them

template <class T>
void append_le(std::vector<std::uint8_t>& out, T value) {
  const Le<T> field(value);
  const auto* raw = reinterpret_cast<const std::uint8_t*>(&field);
  out.insert(out.end(), raw, raw + sizeof field);
}

void append_stored_block(std::vector<std::uint8_t>& out, Bytes block, bool last) {
  const auto size = static_cast<std::uint16_t>(block.size());
  out.push_back(last ? 1 : 0);
  append_le(out, size);
  append_le(out, static_cast<std::uint16_t>(~size));
  out.insert(out.end(), block.begin(), block.end());
}

/// zlib, whose answer to memory that runs out is a code: what it takes itself it gives back, and an
/// exception of `out` passes no C code.
class Deflater {
 public:
  Deflater() {
    ready_ = deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, gzip_window, default_memory,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (ready_) deflateEnd(&stream_);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// False if there was no memory for the compressor.
  bool run(Bytes data, std::vector<std::uint8_t>& out) {
    if (!ready_) return false;
    do {
      const Bytes piece = data.first(std::min(data.size(), deflate_input_step));
      data = data.subspan(piece.size());
      // zlib does not write to its input; its interface lacks the const.
      stream_.next_in = const_cast<Bytef*>(piece.data());
      stream_.avail_in = static_cast<uInt>(piece.size());
      if (!drain(data.empty() ? Z_FINISH : Z_NO_FLUSH, out)) return false;
    } while (!data.empty());
    return true;
  }

 private:
  bool drain(int flush, std::vector<std::uint8_t>& out) {
    int code = Z_OK;
    do {
      const std::size_t before = out.size();
      out.resize(before + deflate_output_step);
      stream_.next_out = out.data() + before;
      stream_.avail_out = static_cast<uInt>(deflate_output_step);
      code = deflate(&stream_, flush);
      out.resize(out.size() - stream_.avail_out);
    } while (code == Z_OK && stream_.avail_out == 0);
    if (flush == Z_FINISH) return code == Z_STREAM_END;
    return code == Z_OK || code == Z_BUF_ERROR;  // the latter: nothing was left to do
  }

  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

std::vector<std::uint8_t> gzip_stored(Bytes tar) {
  std::vector<std::uint8_t> out = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3};
  const std::size_t blocks = tar.size() / stored_block_bytes + 1;
  out.reserve(out.size() + tar.size() + 5 * blocks + 8);
  Bytes rest = tar;
  do {
    const std::size_t size = std::min(rest.size(), stored_block_bytes);
    append_stored_block(out, rest.first(size), size == rest.size());
    rest = rest.subspan(size);
  } while (!rest.empty());
  append_le(out, crc32_gzip_refl(0, tar.data(), tar.size()));
  append_le(out, static_cast<std::uint32_t>(tar.size()));
  return out;
}

Result<std::vector<std::uint8_t>> gzip_deflate(Bytes tar) {
  std::vector<std::uint8_t> out;
  Deflater deflater;
  if (deflater.run(tar, out)) return out;
  return fail(Status::resource, ErrorClass::resource, {},
              fmt::format("the payload cannot be compressed: {}", host_memory_exhausted));
}

}  // namespace neffld
