// SPDX-License-Identifier: MIT
// Damaged payloads: no flipped bit and no missing tail may go unnoticed.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <random>

#include "archive_oracle.hpp"
#include "gzip_write.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

Buffer damaged_sample(Compression compression) {
  PackOptions options;
  options.compression = compression;
  return pack(sample_members(), options);
}

std::size_t gzip_end(const Buffer& file) {
  const auto parsed = parse_container(file);
  REQUIRE(parsed);
  return 1024 + parsed->facts().gzip_bytes;
}

}  // namespace

TEST_CASE("none of 500 bit flips in the compressed area changes a member unnoticed") {
  for (const auto compression : {Compression::deflate, Compression::stored}) {
    Buffer file = damaged_sample(compression);
    // Behind the 10-byte gzip header: its time stamp and system bytes carry nothing.
    const FlipCount counted = flip_bits(file, 1034, gzip_end(file), 500, false);
    CHECK(counted.wrong == 0);
    CHECK(counted.refused > 480);
  }
}

TEST_CASE("with the hash verified every one of 500 bit flips in the payload is refused") {
  Buffer file = damaged_sample(Compression::deflate);
  CHECK(flip_bits(file, 1024, file.size(), 500, true).refused == 500);
}

TEST_CASE("every bit of the CRC and length fields counts") {
  Buffer file = damaged_sample(Compression::deflate);
  const std::size_t end = gzip_end(file);
  for (std::size_t at = end - 8; at < end; ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      file[at] ^= static_cast<std::uint8_t>(1u << bit);
      CHECK_FALSE(parse_container(file));
      file[at] ^= static_cast<std::uint8_t>(1u << bit);
    }
  }
}

TEST_CASE("a file cut at any 512th byte is refused, also when data_size was cut with it") {
  for (const auto compression : {Compression::deflate, Compression::stored}) {
    const Buffer file = damaged_sample(compression);
    const std::size_t end = gzip_end(file);
    for (std::size_t size = 0; size < file.size(); size += 512) {
      INFO(size << " of " << file.size() << " bytes");
      Buffer cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_FALSE(parse_container(cut));
      if (size <= 1024 || size >= end) continue;
      change_header(cut, [size](NeffHeader& h) { h.data_size = size - 1024; });
      CHECK_FALSE(parse_container(cut));
    }
  }
}

TEST_CASE("an uncompressed payload cut inside a member or a header is refused") {
  const Buffer file = damaged_sample(Compression::none);
  std::size_t accepted = 0;
  for (std::size_t size = 1025; size < file.size(); size += 97) {
    Buffer cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    change_header(cut, [size](NeffHeader& h) { h.data_size = size - 1024; });
    const auto parsed = parse_container(cut);
    if (!parsed) continue;
    CHECK_FALSE(dispute(Bytes(cut).subspan(sizeof(NeffHeader))));
    ++accepted;
    // Left is a plain end of data behind a whole member, or part of the end blocks.
    const bool in_end_blocks = size > file.size() - 1024;
    CHECK(((size - 1024) % 512 == 0 || in_end_blocks));
    CHECK_FALSE(parsed->facts().warnings.empty());
  }
  CHECK(accepted < 20);
}

TEST_CASE("damaged and truncated deflate data is never read behind its end") {
  // The payload ends where the next page may not be touched.
  const Buffer file = damaged_sample(Compression::deflate);
  const std::size_t end = gzip_end(file);
  const std::size_t room = (end + 4095) / 4096 * 4096;
  void* raw =
      mmap(nullptr, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(raw != MAP_FAILED);
  auto* base = static_cast<std::uint8_t*>(raw);
  REQUIRE(mprotect(base + room, 4096, PROT_NONE) == 0);
  for (std::size_t size = 1034; size <= end; size += size < 1300 || size > end - 300 ? 1 : 211) {
    std::uint8_t* begin = base + room - size;
    std::memcpy(begin, file.data(), size);
    const Le64 stored(size - 1024);
    std::memcpy(begin + offsetof(NeffHeader, data_size), &stored, sizeof stored);
    CHECK(parse_container({begin, size}).has_value() == (size == end));
  }
  munmap(raw, room + 4096);
}

TEST_CASE("random bytes in place of a payload are refused") {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    Buffer payload(1 + random() % 5000);
    for (auto& byte : payload) byte = static_cast<std::uint8_t>(random());
    if (i % 2 == 0 && payload.size() > 10) {
      const std::uint8_t start[] = {0x1F, 0x8B, 8, 0};
      std::copy(std::begin(start), std::end(start), payload.begin());
    }
    CHECK_FALSE(parse_container(wrap(payload)));
  }
}

TEST_CASE("random damage inside a tar never crashes and never invents a member") {
  const Buffer tar = damaged_sample(Compression::none);
  const auto whole = parse_container(tar);
  REQUIRE(whole);
  std::mt19937 random(99);
  for (int i = 0; i < 2000; ++i) {
    Buffer file = tar;
    for (int k = 0; k < 3; ++k) {
      const std::size_t block = random() % ((file.size() - 1024) / 512);
      file[1024 + block * 512 + random() % 512] = static_cast<std::uint8_t>(random());
    }
    const auto parsed = parse_container(file);
    if (parsed) CHECK(parsed->members().size() == whole->members().size());
    CHECK_FALSE(dispute(Bytes(file).subspan(sizeof(NeffHeader))));
  }
}
