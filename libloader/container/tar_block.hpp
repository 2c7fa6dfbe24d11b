// SPDX-License-Identifier: MIT
// The 512-byte tar header block and its number formats (spec 01 section 5.2).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "neffld/bytes.hpp"

namespace neffld {

struct TarBlock {
  std::uint8_t name[100];
  std::uint8_t mode[8];
  std::uint8_t uid[8];
  std::uint8_t gid[8];
  std::uint8_t size[12];
  std::uint8_t mtime[12];
  std::uint8_t checksum[8];
  std::uint8_t type;
  std::uint8_t linkname[100];
  std::uint8_t magic[6];
  std::uint8_t version[2];
  std::uint8_t uname[32];
  std::uint8_t gname[32];
  std::uint8_t devmajor[8];
  std::uint8_t devminor[8];
  std::uint8_t prefix[155];
  std::uint8_t rest[12];
};
static_assert(sizeof(TarBlock) == 512 && alignof(TarBlock) == 1);
static_assert(offsetof(TarBlock, size) == 0x7C && offsetof(TarBlock, checksum) == 0x94);
static_assert(offsetof(TarBlock, type) == 0x9C && offsetof(TarBlock, magic) == 0x101);
static_assert(offsetof(TarBlock, uname) == 0x109 && offsetof(TarBlock, prefix) == 0x159);

inline bool is_posix(const TarBlock& block) {
  return std::memcmp(block.magic, "ustar", 6) == 0;
}
inline bool is_gnu(const TarBlock& block) {
  return std::memcmp(block.magic, "ustar  ", 8) == 0;  // magic and version
}
/// A magic that begins like one of the two and is neither: readers guess what it is.
inline bool has_odd_magic(const TarBlock& block) {
  return std::memcmp(block.magic, "ustar", 5) == 0 && !is_posix(block) && !is_gnu(block);
}

/// What a GNU header says of a sparse file: four pieces, more to come, the size with holes.
inline Bytes gnu_sparse_fields(const TarBlock& block) {
  constexpr std::size_t begin = 386, end = 495;  // of the block
  static_assert(begin > offsetof(TarBlock, prefix) && end < offsetof(TarBlock, rest));
  return Bytes(block.prefix).subspan(begin - offsetof(TarBlock, prefix), end - begin);
}

/// Headers that describe the next entry instead of being one.
inline bool is_extension_type(std::uint8_t type) {
  return type == 'x' || type == 'X' || type == 'g' || type == 'L' || type == 'K';
}

/// `size` rounded up to whole blocks; `size` is below 2^63.
inline std::uint64_t padded(std::uint64_t size) {
  return (size + 511) / 512 * 512;
}

struct TarChecksums {
  std::uint64_t of_unsigned = 0;
  std::uint64_t of_signed = 0;  ///< some old writers summed signed bytes
};

/// Sums of the block with the checksum field read as spaces. Eight bytes at a time: byte by byte,
/// this would be most of the time of walking an archive.
inline TarChecksums tar_checksums(TarBlock block) {
  constexpr std::uint64_t low_bytes = 0x00FF'00FF'00FF'00FF, low_bits = 0x0101'0101'0101'0101;
  std::memset(block.checksum, ' ', sizeof block.checksum);
  const Bytes raw(reinterpret_cast<const std::uint8_t*>(&block), sizeof block);
  std::uint64_t bytes = 0, high_bits = 0;  // sums of four columns of 16 bits, of eight of 8 bits
  static_assert(sizeof block / 4 * 0xFF <= 0xFFFF && sizeof block / 8 <= 0xFF);
  for (std::size_t at = 0; at < sizeof block; at += sizeof bytes) {
    const auto word = load_le<std::uint64_t>(raw, at);
    bytes += (word & low_bytes) + (word >> 8 & low_bytes);
    high_bits += word >> 7 & low_bits;
  }
  std::uint64_t sum = 0, negative = 0;
  for (int shift = 0; shift < 64; shift += 16) sum += bytes >> shift & 0xFFFF;
  for (int shift = 0; shift < 64; shift += 8) negative += high_bits >> shift & 0xFF;
  return {sum, sum - 256 * negative};
}

/// Whether a field nobody asks the value of could be a number: octal text, nothing, or base-256 of
/// either sign. Some writers leave such fields empty or full of spaces.
inline bool may_be_number(Bytes field) {
  const std::uint8_t first = field[0];
  if (first == 0x80 || first == 0xFF || first == 0) return true;
  std::size_t i = 0;
  while (i < field.size() && field[i] == ' ') ++i;
  while (i < field.size() && field[i] >= '0' && field[i] <= '7') ++i;
  while (i < field.size() && (field[i] == ' ' || field[i] == 0)) ++i;
  return i == field.size();
}

/// The value of a numeric field: octal text, or base-256 (first byte 0x80, big-endian value).
/// Nothing if it is neither, is empty, negative or not below 2^63.
inline std::optional<std::uint64_t> tar_number(Bytes field) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t value = 0;
  if ((field[0] & 0x80) != 0) {
    if (field[0] != 0x80) return std::nullopt;
    for (const std::uint8_t byte : field.subspan(1)) {
      if (value > most >> 8) return std::nullopt;
      value = value << 8 | byte;
    }
    return value;
  }
  std::size_t i = 0;
  while (i < field.size() && field[i] == ' ') ++i;
  const std::size_t first_digit = i;
  for (; i < field.size() && field[i] >= '0' && field[i] <= '7'; ++i) {
    value = value << 3 | static_cast<std::uint64_t>(field[i] - '0');  // 12 digits fit
  }
  if (i == first_digit) return std::nullopt;
  for (; i < field.size(); ++i) {
    if (field[i] != ' ' && field[i] != 0) return std::nullopt;
  }
  return value;
}

}  // namespace neffld
