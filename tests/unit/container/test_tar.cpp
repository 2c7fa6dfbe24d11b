// SPDX-License-Identifier: MIT
// Tar headers: sizes, types, checksums, end of archive (spec 01 section 5).
#include <catch2/catch.hpp>
#include <chrono>

#include "fixture.hpp"
#include "support.hpp"
#include "tar_write.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;

namespace {

RawTar::Tweak size_field(std::string_view raw) {
  return [raw = std::string(raw)](TarBlock& block) {
    REQUIRE(raw.size() == sizeof block.size);
    std::memcpy(block.size, raw.data(), raw.size());
  };
}

RawTar::Tweak base256_size(std::uint64_t value) {
  return [value](TarBlock& block) {
    std::memset(block.size, 0, sizeof block.size);
    block.size[0] = 0x80;
    for (unsigned i = 0; i < 8; ++i) {
      block.size[11 - i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  };
}

/// The error for an archive whose second member has this size field.
Error size_refusal(const RawTar::Tweak& tweak) {
  RawTar tar;
  tar.entry("neff.json", "{}").entry("sg00/def.json", "{}", '0', tweak).end();
  const auto begin = std::chrono::steady_clock::now();
  Error error = refusal(wrap_tar(tar));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100));
  CHECK(error.where.member == "sg00/def.json");
  CHECK_THAT(error.text, Contains("invalid files size("));
  CHECK(error.status == Status::invalid);
  return error;
}

}  // namespace

TEST_CASE("sizes that lie are refused at once, by name") {
  size_refusal(base256_size(1ull << 60));
  size_refusal(base256_size(1ull << 63));
  size_refusal(base256_size((1ull << 63) - 1));
  size_refusal(base256_size(~0ull));
  size_refusal(size_field(std::string(12, '\xFF')));
  size_refusal(size_field(std::string("\x80\x01\0\0\0\0\0\0\0\0\0\0", 12)));
  size_refusal(size_field(std::string("0000000009 \0", 12)));
  size_refusal(size_field("hello world!"));
  size_refusal(size_field("-0000000001 "));
  size_refusal(size_field(std::string(12, '\0')));
  size_refusal(size_field(std::string("00000000002x", 12)));
  size_refusal(size_field("777777777777"));
  size_refusal(size_field(std::string("00000003001\0", 12)));
}

TEST_CASE("base-256, space-padded and twelve-digit sizes are read") {
  RawTar tar;
  tar.entry("a", "hello", '0', base256_size(5));
  tar.entry("b", "hello", '0', size_field(std::string("          5\0", 12)));
  tar.entry("c", "hello", '0', size_field("000000000005"));
  const Buffer file = wrap_tar(tar.end());
  const auto parsed = parse_container(file);
  REQUIRE(parsed);
  for (const Member& found : parsed->members()) CHECK(as_text(found.bytes) == "hello");
}

TEST_CASE("links, devices, pipes and sparse files are refused by name and kind") {
  const std::pair<char, const char*> kinds[] = {{'1', "hard link"},
                                                {'2', "symbolic link"},
                                                {'3', "character device"},
                                                {'4', "block device"},
                                                {'6', "FIFO"},
                                                {'7', "contiguous file"},
                                                {'S', "sparse file"},
                                                {'M', "multi-volume"},
                                                {'V', "volume label"},
                                                {'D', "dump directory"},
                                                {'Z', "unknown type 0x5a"}};
  for (const auto& [type, text] : kinds) {
    for (const char* body : {"", "12345"}) {
      RawTar tar;
      tar.entry("neff.json", "{}").entry("sg00/odd", body, type).entry("last", "x").end();
      const Error error = refusal(wrap_tar(tar));
      CHECK(error.where.member == "sg00/odd");
      CHECK_THAT(error.text, Contains(text) && Contains("only regular files and directories"));
    }
  }
}

TEST_CASE("pax sparse records are refused") {
  for (const char* record : {"22 GNU.sparse.major=1\n", "20 GNU.sparse.x=abc\n",
                             "16 GNU.sparse=1\n", "21 SCHILY.realsize=9\n"}) {
    RawTar tar;
    tar.entry("x", record, 'x').entry("sg00/odd", "12345").end();
    CHECK_THAT(refusal(wrap_tar(tar)).text, Contains("makes the next entry a sparse file"));
  }
}

TEST_CASE("directories are skipped, also ones with odd but harmless names") {
  RawTar tar;
  tar.entry("./", "", '5').entry("sg00/", "", '5').entry("./sg00", "", '5').entry("sg00/a", "1");
  const Buffer file = wrap_tar(tar.end());
  const auto parsed = parse_container(file);
  REQUIRE(parsed);
  CHECK(parsed->members().size() == 1);
  RawTar bad;
  bad.entry("sg00/", "body", '5').end();
  CHECK_THAT(refusal(wrap_tar(bad)).text, Contains("a directory has no body"));
}

TEST_CASE("a damaged header is refused wherever it is, never skipped") {
  const std::size_t count = 5;
  for (std::size_t damaged = 0; damaged < count; ++damaged) {
    RawTar tar;
    std::size_t offset = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (k == damaged) offset = tar.bytes().size();
      tar.entry("member" + std::to_string(k), "some body");
    }
    tar.end();
    for (const std::size_t byte : {0u, 130u, 150u, 257u, 300u}) {
      RawTar copy = tar;
      copy.bytes()[offset + byte] ^= 0x04;
      const Error error = refusal(wrap_tar(copy));
      CHECK(error.where.offset == offset);
      CHECK_THAT(error.text,
                 Contains("failure while reading NEFF metadata") && Contains("checksum"));
    }
  }
}

TEST_CASE("a header with garbage where a number belongs is no header") {
  std::uint8_t(TarBlock::*const fields[])[8] = {&TarBlock::mode, &TarBlock::uid, &TarBlock::gid,
                                                &TarBlock::devmajor, &TarBlock::devminor};
  for (const auto field : fields) {
    const auto garbage = [field](TarBlock& block) { std::memcpy(block.*field, "0000x44", 8); };
    const auto unusual = [field](TarBlock& block) { std::memset(block.*field, ' ', 8); };
    RawTar bad, good;
    bad.entry("neff.json", "{}").entry("sg00/a", "1", '0', garbage).end();
    good.entry("neff.json", "{}", '0', unusual).end();
    const Error error = refusal(wrap_tar(bad));
    CHECK(error.where.member == "sg00/a");
    CHECK_THAT(error.text, Contains("damaged tar header") && Contains("0000x44") &&
                               Contains("neither an octal nor a base-256 number"));
    CHECK(parse_container(wrap_tar(good)));
  }
  RawTar time, negative;
  time.entry("a", "1", '0', [](TarBlock& block) { block.mtime[11] = '9'; }).end();
  negative.entry("a", "1", '0', [](TarBlock& block) { std::memset(block.mtime, 0xFF, 12); }).end();
  CHECK_THAT(refusal(wrap_tar(time)).text, Contains("its mtime '"));
  CHECK(parse_container(wrap_tar(negative)));
}

TEST_CASE("a checksum in base-256 is none") {
  RawTar tar;
  tar.entry("a", "1").end();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += i < 148 || i >= 156 ? tar.bytes()[i] : ' ';
  const std::uint8_t field[8] = {
      0x80, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(sum >> 8), static_cast<std::uint8_t>(sum)};
  std::ranges::copy(field, tar.bytes().begin() + 148);
  CHECK_THAT(refusal(wrap_tar(tar)).text, Contains("checksum"));
}

TEST_CASE("a magic that is nearly one of the two known is refused") {
  for (const char* magic : {"ustarX00", "ustar 00", "ustar \0\0"}) {
    RawTar tar;
    tar.entry("a", "1", '0', [magic](TarBlock& block) { std::memcpy(block.magic, magic, 8); });
    CHECK_THAT(refusal(wrap_tar(tar.end())).text,
               Contains("its magic 'ustar") && Contains("no known dialect"));
  }
}

TEST_CASE("GNU headers with the fields of a sparse file are refused") {
  for (const std::size_t at : {386u, 482u, 483u, 494u}) {
    RawTar tar;
    tar.entry("sg00/odd", "1", '0', [at](TarBlock& block) {
      std::memcpy(block.magic, "ustar  ", 8);
      block.prefix[at - 345] = '1';
    });
    const Error error = refusal(wrap_tar(tar.end()));
    CHECK(error.where.member == "sg00/odd");
    CHECK_THAT(error.text, Contains("describes a sparse file"));
  }
}

TEST_CASE("missing end blocks are accepted with a warning, a torn block is not") {
  RawTar tar;
  tar.entry("neff.json", "{}").entry("sg00/a", "1");
  const auto parsed = parse_container(wrap_tar(tar));
  REQUIRE(parsed);
  REQUIRE(parsed->facts().warnings.size() == 1);
  CHECK_THAT(parsed->facts().warnings[0], Contains("without its two zero blocks"));

  RawTar one = tar;
  one.bytes().resize(one.bytes().size() + 512);
  const auto single = parse_container(wrap_tar(one));
  REQUIRE(single);
  CHECK_THAT(single->facts().warnings.at(0), Contains("one zero block"));

  RawTar torn = tar;
  torn.bytes().resize(torn.bytes().size() + 100);
  CHECK_THAT(refusal(wrap_tar(torn)).text, Contains("truncated tar archive"));

  RawTar padding = tar;
  padding.bytes().resize(padding.bytes().size() + 10'240 + 17);
  const auto padded_tar = parse_container(wrap_tar(padding));
  REQUIRE(padded_tar);
  CHECK(padded_tar->facts().warnings.empty());
}

TEST_CASE("members hidden behind the end of the archive are refused") {
  for (const std::size_t zero_blocks : {1u, 2u, 5u}) {
    RawTar tar;
    tar.entry("neff.json", "{}");
    tar.bytes().resize(tar.bytes().size() + zero_blocks * 512);
    const std::size_t hidden = tar.bytes().size();
    tar.entry("sg00/hidden", "1").end();
    const Error error = refusal(wrap_tar(tar));
    CHECK(error.where.offset == hidden);
    CHECK_THAT(error.text, Contains("behind the end of the archive"));
  }
}

TEST_CASE("members are views: into the file for a plain tar, elsewhere for gzip") {
  PackOptions options;
  options.compression = Compression::none;
  const Buffer plain = pack(sample_members(), options);
  const Buffer gzip = pack(sample_members());
  for (const Buffer* file : {&plain, &gzip}) {
    auto parsed = parse_container(*file);
    REQUIRE(parsed);
    CHECK(parsed->facts().gzip == (file == &gzip));
    const std::uint8_t* before = parsed->find("sg00/const.npy")->bytes.data();
    const Container moved = std::move(*parsed);
    const Bytes body = moved.find("sg00/const.npy")->bytes;
    CHECK(body.data() == before);
    CHECK((Buffer(body.begin(), body.end()) == patterned(100'000, 2)));
    const bool inside = body.data() >= file->data() && body.data() < file->data() + file->size();
    CHECK(inside == (file == &plain));
  }
}

TEST_CASE("old and new number forms and the pre-POSIX header are told apart in the facts") {
  RawTar v7;
  v7.entry("a", "1", '\0', [](TarBlock& block) { std::memset(block.magic, 0, 8); });
  const auto parsed = parse_container(wrap_tar(v7.end()));
  REQUIRE(parsed);
  CHECK(parsed->facts().tar_dialect == "v7");
  for (const auto& [dialect, name] :
       {std::pair(TarDialect::ustar, "ustar"), std::pair(TarDialect::pax, "pax"),
        std::pair(TarDialect::gnu, "gnu")}) {
    PackOptions options;
    options.dialect = dialect;
    CHECK(parse_container(pack(sample_members(), options))->facts().tar_dialect == name);
  }
}

TEST_CASE("a header's checksums are the sums of its bytes, whatever they are") {
  const auto check = [](auto byte_at) {
    TarBlock block;
    auto* raw = reinterpret_cast<std::uint8_t*>(&block);
    std::int64_t of_unsigned = 0, of_signed = 0;
    for (std::size_t i = 0; i < sizeof block; ++i) {
      raw[i] = byte_at(i);
      const bool in_field = i >= offsetof(TarBlock, checksum) && i < offsetof(TarBlock, type);
      const std::uint8_t counted = in_field ? ' ' : raw[i];
      of_unsigned += counted;
      of_signed += static_cast<std::int8_t>(counted);
    }
    const TarChecksums sums = tar_checksums(block);
    CHECK(sums.of_unsigned == static_cast<std::uint64_t>(of_unsigned));
    CHECK(sums.of_signed == static_cast<std::uint64_t>(of_signed));
  };
  for (const unsigned byte : {0x00u, 0x01u, 0x7Fu, 0x80u, 0xFFu}) {
    check([byte](std::size_t) { return static_cast<std::uint8_t>(byte); });
  }
  for (std::size_t place = 0; place < sizeof(TarBlock); ++place) {
    check([place](std::size_t i) { return static_cast<std::uint8_t>(i == place ? 0x90 : 0); });
  }
  const Buffer noise = patterned(sizeof(TarBlock), 7);
  check([&noise](std::size_t i) { return noise[i]; });
}
