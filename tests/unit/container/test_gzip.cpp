// SPDX-License-Identifier: MIT
// The gzip member: header fields, trailer, padding, a second member (spec 01 section 5.1).
#include <isa-l/crc.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "gzip.hpp"
#include "gzip_write.hpp"
#include "support.hpp"
#include "tar_write.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;

namespace {

Buffer sample_tar() {
  const auto members = sample_members();
  auto tar = write_tar(members, TarDialect::ustar, TarOwner{}, false);
  REQUIRE(tar);
  return std::move(*tar);
}

Buffer sample_gzip() {
  auto gzip = gzip_deflate(sample_tar());
  REQUIRE(gzip);
  return std::move(*gzip);
}

/// The sample with its 10-byte gzip header replaced.
Buffer with_header(const Buffer& header) {
  const Buffer plain = sample_gzip();
  Buffer out = header;
  out.insert(out.end(), plain.begin() + 10, plain.end());
  return out;
}

Buffer optional_fields(std::uint8_t flags) {
  Buffer header = {0x1F, 0x8B, 8, flags, 9, 8, 7, 6, 2, 255};
  const auto text = [&header](std::string_view value) {
    header.insert(header.end(), value.begin(), value.end());
    header.push_back(0);
  };
  if ((flags & 4) != 0) {
    const Buffer extra = {5, 0, 'a', 'b', 1, 0, 'c'};
    header.insert(header.end(), extra.begin(), extra.end());
  }
  if ((flags & 8) != 0) text("model.tar");
  if ((flags & 16) != 0) text("");
  if ((flags & 2) != 0) {
    const std::uint32_t crc = crc32_gzip_refl(0, header.data(), header.size());
    header.push_back(static_cast<std::uint8_t>(crc));
    header.push_back(static_cast<std::uint8_t>(crc >> 8));
  }
  return header;
}

}  // namespace

TEST_CASE("the deflate writer leaves no time stamp and is repeatable") {
  const Buffer gzip = sample_gzip();
  CHECK(Buffer(gzip.begin(), gzip.begin() + 10) == Buffer{0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 4, 3});
  CHECK((gzip == sample_gzip()));
  CHECK(gzip.size() < sample_tar().size());
}

TEST_CASE("stored blocks hold any size, also none and exact multiples") {
  for (const std::size_t size : {0u, 1u, 65534u, 65535u, 65536u, 131070u, 200'000u}) {
    const Buffer data = patterned(size, 5);
    const auto inflated = inflate_payload(gzip_stored(data), 1 << 20);
    REQUIRE(inflated);
    const Bytes out = Bytes(inflated->arena.bytes()).first(inflated->size);
    CHECK((Buffer(out.begin(), out.end()) == data));
  }
}

TEST_CASE("every combination of optional gzip header fields is skipped") {
  for (unsigned flags = 0; flags < 32; ++flags) {
    INFO("flags " << flags);
    CHECK(parse_container(wrap(with_header(optional_fields(static_cast<std::uint8_t>(flags))))));
  }
}

TEST_CASE("a gzip header cut off at any byte is refused as truncated") {
  const Buffer whole = optional_fields(2 | 4 | 8 | 16);
  for (std::size_t size = 2; size < whole.size(); ++size) {
    INFO(size << " bytes");
    const Error error = refusal(wrap(Bytes(whole).first(size)));
    CHECK_THAT(error.text, Contains("truncated gzip input"));
    CHECK(error.where.member == "gzip payload");
  }
}

TEST_CASE("odd gzip headers are refused with what was found") {
  Buffer method = optional_fields(0), reserved = optional_fields(0), crc = optional_fields(2);
  method[2] = 7;
  reserved[3] = 0x20;
  crc.back() ^= 1;
  CHECK_THAT(refusal(wrap(with_header(method))).text, Contains("method 7"));
  CHECK_THAT(refusal(wrap(with_header(reserved))).text, Contains("0x20"));
  CHECK_THAT(refusal(wrap(with_header(crc))).text, Contains("gzip header CRC mismatch"));
}

TEST_CASE("zero padding of any length is accepted and counted") {
  const Buffer gzip = sample_gzip();
  for (const std::size_t zeros : {0u, 1u, 7u, 10'165u, 1'000'000u}) {
    Buffer payload = gzip;
    payload.resize(payload.size() + zeros);
    const auto parsed = parse_container(wrap(payload));
    REQUIRE(parsed);
    CHECK(parsed->facts().gzip);
    CHECK(parsed->facts().gzip_bytes == gzip.size());
    CHECK(parsed->facts().padding_bytes == zeros);
    CHECK(parsed->facts().inflated_bytes == sample_tar().size());
  }
}

TEST_CASE("one non-zero byte anywhere in the padding is refused at its offset") {
  const Buffer gzip = sample_gzip();
  for (const std::size_t place : {0u, 1u, 4'000u, 10'164u}) {
    Buffer payload = gzip;
    payload.resize(payload.size() + 10'165);
    payload[gzip.size() + place] = 0x41;
    const Error error = refusal(wrap(payload));
    CHECK(error.status == Status::invalid);
    CHECK(error.where.offset == gzip.size() + place);
    CHECK_THAT(error.text, Contains("0x41") && Contains("zero padding"));
  }
}

TEST_CASE("a second gzip member is refused and named, also behind zeros") {
  const Buffer gzip = sample_gzip();
  for (const std::size_t zeros : {0u, 512u}) {
    Buffer payload = gzip;
    payload.resize(payload.size() + zeros);
    payload.insert(payload.end(), gzip.begin(), gzip.end());
    const Error error = refusal(wrap(payload));
    CHECK_THAT(error.text, Contains("second gzip member"));
    CHECK(error.where.offset == gzip.size() + zeros);
  }
}

TEST_CASE("CRC and length mismatches name the expected and the found value") {
  const Buffer gzip = sample_gzip();
  Buffer crc = gzip, length = gzip;
  crc[gzip.size() - 8] ^= 1;
  length[gzip.size() - 1] ^= 1;
  CHECK_THAT(refusal(wrap(crc)).text,
             Contains("gzip CRC mismatch: expected 0x") && Contains("got 0x"));
  CHECK_THAT(refusal(wrap(length)).text,
             Contains("gzip length mismatch: expected ") && Contains("got "));
}

TEST_CASE("a payload that compresses far better than real ones still fits: the arena grows") {
  Buffer zeros(64 << 20);
  zeros.back() = 1;
  const auto gzip = gzip_deflate(zeros);
  REQUIRE(gzip);
  REQUIRE(gzip->size() * 16 < zeros.size());
  const auto inflated = inflate_payload(*gzip, zeros.size());
  REQUIRE(inflated);
  CHECK(inflated->size == zeros.size());
  CHECK(inflated->arena.bytes().size() == zeros.size());
  CHECK(std::memcmp(inflated->arena.bytes().data(), zeros.data(), zeros.size()) == 0);
}

// Hidden: takes 4 GiB of memory and several seconds; run it with "[large]".
TEST_CASE("more than 4 GiB pass through writer and reader whole", "[.][large]") {
  const std::size_t size = (std::size_t{4} << 30) + 12'345;
  void* raw = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(raw != MAP_FAILED);
  const auto gzip = gzip_deflate({static_cast<std::uint8_t*>(raw), size});
  munmap(raw, size);
  REQUIRE(gzip);
  const auto inflated = inflate_payload(*gzip, size);
  REQUIRE(inflated);
  CHECK(inflated->size == size);
  const auto limited = inflate_payload(*gzip, size - 1);
  REQUIRE_FALSE(limited);
  CHECK(limited.error().status == Status::resource);
}

TEST_CASE("the inflated size limit is a resource error and holds to the byte") {
  const Buffer tar = sample_tar();
  ContainerOptions options;
  options.limits.inflated_bytes = tar.size();
  CHECK(parse_container(wrap(sample_gzip()), options));
  --options.limits.inflated_bytes;
  const Error error = refusal(wrap(sample_gzip()), options);
  CHECK(error.status == Status::resource);
  CHECK(error.error_class == ErrorClass::resource);
  CHECK_THAT(error.text, Contains("limit"));
  CHECK(refusal(wrap(tar), options).status == Status::resource);
}
