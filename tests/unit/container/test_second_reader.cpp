// SPDX-License-Identifier: MIT
// Every archive we accept is the same list of members to libarchive, to which nothing in the loader
// is related. The helpers of this folder ask it about every archive they build; here are the ones
// that only serve this question.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "archive_oracle.hpp"
#include "fixture.hpp"
#include "gzip.hpp"
#include "sample_catalogue.hpp"
#include "support.hpp"
#include "tar_write.hpp"

using namespace neffld;
using namespace neffld::test;
using namespace std::string_literals;

namespace {

constexpr TarDialect dialects[] = {TarDialect::ustar, TarDialect::pax, TarDialect::gnu};

void check_agreed(Bytes tar) {
  REQUIRE(accepted(tar));
  const auto text = dispute(tar);
  if (text) FAIL_CHECK("libarchive reads another archive: " << *text);
}

/// One of a list, by a random number.
template <class T, std::size_t n>
const T& one_of(const T (&list)[n], std::minstd_rand& random) {
  return list[random() % n];
}

std::string record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

const std::string spellings[] = {"a",
                                 "b.bin",
                                 "./c",
                                 "sg00/def.json",
                                 "sg00/",
                                 "d\xC3\xA9",
                                 "e\xCC\x81",
                                 "f\xFF",
                                 ".",
                                 "./",
                                 "g/../h",
                                 "i//j",
                                 "k\0l"s,
                                 "wavegraph-bin.json",
                                 "",
                                 "._m",
                                 "n/./o",
                                 "\xED\xA0\x80",
                                 std::string(100, 'p'),
                                 std::string(99, 'q') + "/"};

std::string random_records(std::minstd_rand& random) {
  static const std::string odd[] = {"0 a=\n",
                                    "5 a=\n",
                                    "6 a=b\n",
                                    "007 a=b\n",
                                    "8 a=b\0\n"s,
                                    "8 \0a=b\n"s,
                                    "20 SCHILY.fflags=x\n",
                                    "6 =ab\n",
                                    "1000006 comment=x\n",
                                    "9 path=a\n",
                                    "",
                                    "\0"s};
  static const std::string keys[] = {"path",
                                     "path",
                                     "size",
                                     "linkpath",
                                     "uname",
                                     "gname",
                                     "uid",
                                     "mtime",
                                     "comment",
                                     "hdrcharset",
                                     "GNU.sparse",
                                     "GNU.sparse.name",
                                     "SCHILY.realsize",
                                     "SCHILY.xattr.a",
                                     "LIBARCHIVE.xattr.b",
                                     "SCHILY.acl.access",
                                     "RHT.security.selinux",
                                     "SUN.holesdata",
                                     "LIBARCHIVE.symlinktype"};
  static const std::string values[] = {
      "BINARY", "ISO-IR 10646 2000 UTF-8", "0", "1",     "5",   "512",      "-1",
      " 5",     "9223372036854775807",     "",  "x\0y"s, "a=b", "user::rwx"};
  std::string out;
  for (auto count = random() % 4; count != 0; --count) {
    const std::string& key = one_of(keys, random);
    const bool number = key == "size" || random() % 3 == 0;
    out += random() % 12 == 0
               ? one_of(odd, random)
               : record(key, number ? one_of(values, random) : one_of(spellings, random));
  }
  return out;
}

/// Changes what header fields may hold; most of the time nothing.
RawTar::Tweak random_tweak(std::minstd_rand& random) {
  return [&random](TarBlock& block) {
    static const std::string magics[] = {"ustar  \0"s,   "ustar  \0"s, "ustar\0  "s,
                                         "ustar \0\0"s,  "ustarX00",   std::string(8, '\0'),
                                         "ustar\0\0\0"s, "tar"};
    static const std::string numbers[] = {
        "0000005\0"s,        "      5 ",  "garbage!", "\x80\0\0\0\0\0\0\5"s, std::string(8, '\xFF'),
        std::string(8, ' '), "5\0junk!"s, "-000005 ", std::string(8, '\0'),  "\0garbage"s};
    static const std::string prefixes[] = {"p",   "p/", "/", "..", "p\0q"s, std::string(155, 'r'),
                                           "\xFF"};
    const auto put = [](MutableBytes field, const std::string& text) {
      std::memcpy(field.data(), text.data(), std::min(field.size(), text.size()));
    };
    if (random() % 3 == 0) put({block.magic, 8}, one_of(magics, random));
    if (random() % 8 == 0) put(block.prefix, one_of(prefixes, random));
    MutableBytes fields[] = {block.mode,     block.uid,      block.gid,   block.mtime,
                             block.devmajor, block.devminor, block.uname, block.linkname};
    if (random() % 8 == 0) put(one_of(fields, random), one_of(numbers, random));
    if (random() % 16 == 0) put({block.size + 4, 8}, one_of(numbers, random));
    if (random() % 16 == 0) put({block.name + 4, 8}, one_of(numbers, random));
    if (random() % 16 == 0) block.prefix[random() % 155] = static_cast<std::uint8_t>(random());
  };
}

Buffer random_archive(std::minstd_rand& random) {
  static const std::string bodies[] = {"", "hello", std::string(512, 'x'), std::string(513, 'y')};
  static const char types[] = {'0', '0', '0', '\0', '\0', '5', '7', '1', 'S', 'A', 'Z'};
  static const char extensions[] = {'x', 'x', 'x', 'X', 'g', 'L', 'L', 'K'};
  RawTar tar;
  for (auto entries = 1 + random() % 3; entries != 0; --entries) {
    for (auto extra = random() % 4; extra > 1; --extra) {
      const char type = one_of(extensions, random);
      const bool text = type == 'L' || type == 'K';
      tar.entry(
          one_of(spellings, random),
          text ? one_of(spellings, random) + (random() % 2 ? "\0"s : ""s) : random_records(random),
          type, random() % 4 == 0 ? random_tweak(random) : RawTar::Tweak());
    }
    const char type = random() % 2 != 0 ? '0' : one_of(types, random);
    tar.entry(one_of(spellings, random), type == '5' ? "" : one_of(bodies, random), type,
              random_tweak(random));
  }
  if (random() % 8 != 0) tar.end();
  Buffer bytes = std::move(tar.bytes());
  if (random() % 16 == 0) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
  return bytes;
}

/// Makes random archives; returns how many were accepted.
unsigned search_for_disputes(unsigned count, unsigned seed) {
  std::minstd_rand random(seed);
  unsigned taken = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Buffer tar = random_archive(random);
    taken += accepted(tar);
    const auto text = dispute(tar);
    if (text) FAIL_CHECK("archive " << i << " of seed " << seed << ": " << *text);
  }
  return taken;
}

/// Tar blocks with a random byte changed and the checksum right again.
void search_near(const Buffer& good, unsigned count) {
  std::minstd_rand random(1);
  unsigned taken = 0;
  for (unsigned i = 0; i < count; ++i) {
    Buffer tar = good;
    const std::size_t block = random() % (tar.size() / 512) * 512;
    for (auto k = 1 + random() % 2; k != 0; --k) {
      tar[block + random() % 512] =
          static_cast<std::uint8_t>(random() % 2 ? random() : random() % 64);
    }
    if (random() % 8 != 0) fix_checksum(tar, block);
    taken += accepted(tar);
    const auto text = dispute(tar);
    if (text) FAIL_CHECK("change " << i << ": " << *text);
  }
  CHECK(taken > count / 50);
}

Buffer tar_of(const std::vector<PackMember>& members, TarDialect dialect) {
  auto tar = write_tar(members, dialect, {}, false);
  if (!tar) FAIL(to_sentence(tar.error()));
  return std::move(*tar);
}

}  // namespace

TEST_CASE("every sample in every dialect is the same to a second reader") {
  for (const auto& entry : sample::catalogue()) {
    INFO(entry.name);
    const auto members = entry.make(entry.name, 1).members;
    for (const TarDialect dialect : dialects) check_agreed(tar_of(members, dialect));
  }
  PackOptions options = fixture_options();
  options.compression = Compression::none;
  const Buffer fixture = pack(fixture_members(), options);
  check_agreed(Bytes(fixture).subspan(sizeof(NeffHeader)));
}

TEST_CASE("every real file is the same to a second reader") {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) {
    WARN("skipped: NEFFLD_NEFFS names no folder with real NEFF files");
    return;
  }
  unsigned files = 0;
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    if (item.path().extension() != ".neff") continue;
    INFO(item.path());
    const auto file = read_file(item.path());
    REQUIRE(file);
    const auto container = parse_container(*file);
    REQUIRE(container);
    const Bytes payload = Bytes(*file).subspan(1024, container->facts().stored_bytes);
    const auto inflated = inflate_payload(payload, 1ull << 30);
    REQUIRE(inflated);
    check_agreed(Bytes(inflated->arena.bytes()).first(inflated->size));
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("damaged header blocks that we still accept are the same to a second reader") {
  std::vector<PackMember> members = {member("neff.json", "{}"), member("sg00/def.json", "{}")};
  for (const TarDialect dialect : dialects) {
    search_near(tar_of(members, dialect), 3000);
    members.push_back(member(
        dialect == TarDialect::ustar ? "sg00/" + std::string(120, 'n') : std::string(250, 'n'),
        "x"));
  }
}

TEST_CASE("random archives that we accept are the same to a second reader") {
  CHECK(search_for_disputes(20'000, 1) > 1000);
}

// Hidden: minutes. Run it with "[long]".
TEST_CASE("a million random archives that we accept are the same to a second reader", "[.][long]") {
  for (unsigned seed = 2; seed < 102; ++seed) search_for_disputes(10'000, seed);
}
