// SPDX-License-Identifier: MIT
#include "gzip_write.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <memory>

namespace neffld {
namespace {

constexpr std::size_t stored_block_bytes = 65535;
/// libarchive's gzip filter counts the bytes of one write in 32 bits.
constexpr std::size_t write_step = std::size_t{1} << 30;

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

struct WriterFree {
  void operator()(archive* writer) const { archive_write_free(writer); }
};

la_ssize_t append_output(archive* writer, void* context, const void* data, std::size_t size) {
  try {
    auto& out = *static_cast<std::vector<std::uint8_t>*>(context);
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    out.insert(out.end(), bytes, bytes + size);
    return static_cast<la_ssize_t>(size);
  } catch (const std::bad_alloc&) {  // an exception may not cross the C library
    archive_set_error(writer, ENOMEM, "host memory is exhausted");
    return -1;
  }
}

bool write_pieces(archive* writer, Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes piece = bytes.first(std::min(bytes.size(), write_step));
    const la_ssize_t written = archive_write_data(writer, piece.data(), piece.size());
    if (written != static_cast<la_ssize_t>(piece.size())) return false;
    bytes = bytes.subspan(piece.size());
  }
  return true;
}

/// Writes `tar` through libarchive's gzip filter; false leaves the reason in `writer`.
bool compress(archive* writer, Bytes tar, std::vector<std::uint8_t>& out) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                            archive_entry_free);
  if (!entry) return false;
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  return archive_write_set_format_raw(writer) == ARCHIVE_OK &&
         archive_write_add_filter_gzip(writer) == ARCHIVE_OK &&
         archive_write_set_filter_option(writer, "gzip", "compression-level", "1") == ARCHIVE_OK &&
         archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
         archive_write_set_bytes_per_block(writer, 0) == ARCHIVE_OK &&
         archive_write_open(writer, &out, nullptr, append_output, nullptr) == ARCHIVE_OK &&
         archive_write_header(writer, entry.get()) == ARCHIVE_OK && write_pieces(writer, tar) &&
         archive_write_close(writer) == ARCHIVE_OK;
}

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
  const std::unique_ptr<archive, WriterFree> writer(archive_write_new());
  std::vector<std::uint8_t> out;
  if (writer && compress(writer.get(), tar, out)) return out;
  const char* reason = writer ? archive_error_string(writer.get()) : nullptr;
  return fail(Status::resource, ErrorClass::resource, {},
              fmt::format("the payload cannot be compressed: {}",
                          reason != nullptr ? reason : "host memory is exhausted"));
}

}  // namespace neffld
