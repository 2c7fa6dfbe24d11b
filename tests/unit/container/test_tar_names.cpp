// SPDX-License-Identifier: MIT
// Member names: long, odd, duplicate, disputed ones (spec 01 section 5.3).
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;
using namespace std::string_literals;

namespace {

std::string pax(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

std::vector<std::string> names(const RawTar& tar) {
  const Buffer file = wrap_tar(tar);
  const auto parsed = parse_container(file);
  if (!parsed) FAIL(to_sentence(parsed.error()));
  std::vector<std::string> out;
  for (const Member& found : parsed->members()) out.emplace_back(found.name);
  return out;
}

/// One member called `name`, by way of the plain header, pax or GNU.
RawTar named(const std::string& name, int how) {
  RawTar tar;
  if (how == 1) tar.entry("PaxHeader", pax("path", name), 'x');
  if (how == 2) tar.entry("././@LongLink", name + '\0', 'L');
  tar.entry(how == 0 ? name : "short", "body").entry("zz", "tail").end();
  return tar;
}

}  // namespace

TEST_CASE("leading ./ is removed once, and members are found by byte-wise order") {
  RawTar tar;
  tar.entry("./neff.json", "{}").entry("././b", "1").entry("output10", "").entry("output2", "");
  CHECK(names(tar.end()) == std::vector<std::string>{"./b", "neff.json", "output10", "output2"});
}

TEST_CASE("members ending in wavegraph-bin.json are dropped and counted") {
  RawTar tar;
  tar.entry("sg00/wavegraph-bin.json", "big").entry("foowavegraph-bin.json", "big");
  tar.entry("wavegraph-bin.json.bak", "kept").entry("sg00/a", "kept");
  const Buffer file = wrap_tar(tar.end());
  const auto parsed = parse_container(file);
  REQUIRE(parsed);
  CHECK(parsed->facts().skipped_members == 2);
  CHECK(parsed->members().size() == 2);
  CHECK(parsed->find("sg00/wavegraph-bin.json") == nullptr);
  CHECK(as_text(parsed->find("sg00/a")->bytes) == "kept");
}

TEST_CASE("names of 300 bytes arrive through pax, GNU and the ustar prefix") {
  const std::string name = "sg00/" + std::string(150, 'd') + "/" + std::string(150, 'f');
  for (const int how : {1, 2}) CHECK(names(named(name, how)).front() == name);
  RawTar tar;
  tar.entry("file", "x", '0', [](TarBlock& block) { std::memset(block.prefix, 'p', 155); });
  tar.end();
  CHECK(names(tar).front() == std::string(155, 'p') + "/file");
}

TEST_CASE("names that are not ASCII are kept as they are, whatever the locale") {
  const std::string name = "sg00/\xC3\xA9t\xC3\xA9.bin";
  for (const int how : {0, 1, 2}) CHECK(names(named(name, how)).front() == name);
}

TEST_CASE("names that leave the archive or confuse readers are refused by name") {
  const std::pair<std::string, const char*> bad[] = {
      {"/etc/passwd", "absolute"}, {"../x", "'..'"},   {"sg00/../../x", "'..'"},
      {"sg00/..", "'..'"},         {"./../x", "'..'"}, {".//etc/passwd", "absolute"},
      {"two\nlines", "newline"},   {"./", "empty"},
  };
  for (const auto& [name, text] : bad) {
    for (const int how : {0, 1, 2}) {
      INFO(name << " by " << how);
      const Error error = refusal(wrap_tar(named(name, how)));
      CHECK_THAT(error.text, Contains(text));
      CHECK(error.where.member.find('\n') == std::string::npos);
    }
  }
  for (const std::string good : {"a..b", "..a", "a../b", "...", "a/.../b"}) {
    CHECK(names(named(good, 0)).front() == good);
  }
}

TEST_CASE("NUL bytes inside a name are refused in every dialect") {
  const std::string name = "sg00/def.json\0.txt"s;
  for (const int how : {0, 1, 2}) {
    INFO("way " << how);
    CHECK_THAT(refusal(wrap_tar(named(name, how))).text, Contains("NUL"));
  }
  RawTar prefix;
  prefix.entry("file", "x", '0', [](TarBlock& block) { std::memcpy(block.prefix, "a\0b", 3); });
  CHECK_THAT(refusal(wrap_tar(prefix.end())).text, Contains("NUL"));
}

TEST_CASE("odd directories are refused too, and a file may not be named like one") {
  RawTar up, slash;
  up.entry("../up/", "", '5').end();
  slash.entry("sg00/", "body").end();
  CHECK_THAT(refusal(wrap_tar(up)).text, Contains("'..'"));
  CHECK_THAT(refusal(wrap_tar(slash)).text, Contains("name of a directory"));
}

TEST_CASE("duplicate members are refused by name, also when spelled differently") {
  for (const char* twin : {"sg00/def.json", "./sg00/def.json"}) {
    RawTar tar;
    tar.entry("sg00/def.json", "1").entry("a", "").entry(twin, "2").end();
    const Error error = refusal(wrap_tar(tar));
    CHECK(error.where.member == "sg00/def.json");
    CHECK_THAT(error.text, Contains("twice"));
  }
}

TEST_CASE("pax headers: other records are skipped, size overrides, malformed ones are refused") {
  RawTar good;
  good.entry("g", pax("comment", "hello"), 'g');
  good.entry("x", pax("ctime", "1.5") + pax("mtime", "2.25") + pax("linkpath", "nowhere"), 'x');
  good.entry("sg00/a", "1");
  good.entry("x", pax("size", "5") + pax("path", "sg00/b"), 'x');
  good.header("short", 0, '0').raw(as_bytes("hello"));
  good.bytes().resize(padded(good.bytes().size()));
  good.entry("sg00/c", "3").end();
  CHECK(names(good) == std::vector<std::string>{"sg00/a", "sg00/b", "sg00/c"});

  for (const std::string& records :
       {"5 a=\n "s, "99 path=x\n"s, "0 path=x\n"s, "path=x\n"s, "10 path=abc"s, "9 path:abc\n"s,
        "6 =ab\n"s, "-9 path=x\n"s, pax("size", "-1"), pax("size", "1e3"), pax("size", "abc"),
        pax("size", "9223372036854775808"), pax("size", "99999999999999999999999"),
        pax("path", "a") + pax("path", "b"), pax("size", "1") + pax("size", "1")}) {
    INFO(records);
    RawTar tar;
    tar.entry("x", records, 'x').entry("sg00/a", "1").end();
    CHECK(refusal(wrap_tar(tar)).status == Status::invalid);
  }
}

TEST_CASE("header sequences that readers resolve differently are refused") {
  RawTar both, twice, gnu_twice, global;
  both.entry("x", pax("size", "1024"), 'x').entry("././@LongLink", "hidden\0"s, 'L');
  both.entry("short", "1").end();
  twice.entry("x", pax("path", "a"), 'x').entry("x", pax("path", "b"), 'x').entry("c", "1").end();
  gnu_twice.entry("L", "a\0"s, 'L').entry("L", "b\0"s, 'L').entry("c", "1").end();
  global.entry("g", pax("path", "a"), 'g').entry("c", "1").end();
  CHECK_THAT(refusal(wrap_tar(both)).text, Contains("both a pax header and a GNU long name"));
  CHECK_THAT(refusal(wrap_tar(twice)).text, Contains("two pax headers"));
  CHECK_THAT(refusal(wrap_tar(gnu_twice)).text, Contains("two GNU long-name headers"));
  CHECK_THAT(refusal(wrap_tar(global)).text, Contains("global header"));

  RawTar chain;
  for (int i = 0; i < 1000; ++i) chain.entry("g", pax("comment", "x"), 'g');
  CHECK_THAT(refusal(wrap_tar(chain.entry("c", "1").end())).text, Contains("extension headers"));
}

TEST_CASE("a prefix that ends in a slash is refused: some readers add one, some do not") {
  RawTar tar;
  tar.entry("file", "x", '0', [](TarBlock& block) { std::memcpy(block.prefix, "sg00/", 5); });
  CHECK_THAT(refusal(wrap_tar(tar.end())).text, Contains("prefix ends in '/'"));
}

TEST_CASE("texts of a pax header are UTF-8, or bytes of any kind if it says so") {
  const std::pair<std::string, const char*> bad[] = {
      {pax("path", "sg00/\xFF"), "record 'path' is not UTF-8: byte 0xff at 5"},
      {pax("path", "\xC3"), "is not UTF-8"},
      {pax("path", "\xC0\xAF"), "is not UTF-8"},
      {pax("path", "\xED\xA0\x80"), "is not UTF-8"},
      {pax("path", "\xF4\x90\x80\x80"), "is not UTF-8"},
      {pax("gname", "\x80"), "record 'gname' is not UTF-8"},
      {pax("uname", "a\0b"s), "record 'uname' holds a NUL"},
      {pax("hdrcharset", "BINARY\0"s), "record 'hdrcharset' holds a NUL"},
      {pax("path", "e\xCC\x81"), "U+0301"},
  };
  for (const auto& [records, text] : bad) {
    INFO(text);
    RawTar tar, binary;
    tar.entry("x", records, 'x').entry("a", "1").end();
    CHECK_THAT(refusal(wrap_tar(tar)).text, Contains(text));
    if (std::string_view(text).find("NUL") != std::string_view::npos) continue;
    binary.entry("x", records + pax("hdrcharset", "BINARY"), 'x').entry("a", "1").end();
    CHECK(names(binary).size() == 1);
  }
  for (const std::string good :
       {"d\xC3\xA9", "\xD0\x96", "\xE4\xB8\xAD", "\xEA\xB0\x80", "\xF0\x9F\x98\x80"}) {
    CHECK(names(named("a" + good, 1)).front() == "a" + good);
  }
}

TEST_CASE("sizes and records that readers take differently are refused") {
  for (const std::string& records : {pax("size", ""), pax("a\0b"s, "1"), pax("size", "5\0"s)}) {
    RawTar tar;
    tar.entry("x", records, 'x').entry("a", "12345").end();
    CHECK(refusal(wrap_tar(tar)).status == Status::invalid);
  }
  RawTar taken_back;
  taken_back.entry("x", pax("path", ""), 'x').entry("a", "1").end();
  CHECK(names(taken_back) == std::vector<std::string>{"a"});
}

TEST_CASE("extension headers of more than a mebibyte are refused, and records of a million bytes") {
  const std::string most(1 << 20, '\0');
  RawTar fits, large, record;
  fits.entry("L", "name" + most.substr(4), 'L').entry("a", "1").end();
  large.entry("L", "name" + most, 'L').entry("a", "1").end();
  record.entry("x", pax("comment", std::string(999'990, 'c')), 'x').entry("a", "1").end();
  CHECK(names(fits) == std::vector<std::string>{"name"});
  CHECK_THAT(refusal(wrap_tar(large)).text, Contains("an extension header of 1048580 bytes"));
  CHECK_THAT(refusal(wrap_tar(record)).text, Contains("malformed record '1000007 comment=c"));
}

TEST_CASE("extension headers whose body is missing or that describe nothing are refused") {
  RawTar lie, orphan, nothing;
  lie.header("x", 1ull << 32, 'x').end();
  orphan.entry("x", pax("path", "a"), 'x');
  nothing.entry("x", pax("path", "a"), 'x').end();
  for (const RawTar* tar : {&lie, &orphan, &nothing}) {
    CHECK(refusal(wrap_tar(*tar)).status == Status::invalid);
  }
}
