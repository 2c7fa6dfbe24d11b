// SPDX-License-Identifier: MIT
// Packing folders and unpacking into folders.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

void put(const std::string& path, std::string_view content) {
  fs::create_directories(fs::path(path).parent_path());
  const auto written = write_file(path, as_bytes(content));
  if (!written) FAIL(to_sentence(written.error()));
}

Error unpack_refusal(const Buffer& file, const std::string& folder) {
  const auto parsed = parse_container(file);
  REQUIRE(parsed);
  const auto unpacked = unpack_neff(*parsed, folder);
  REQUIRE_FALSE(unpacked);
  return unpacked.error();
}

}  // namespace

TEST_CASE("pack, parse, unpack, read the folder and pack again gives the same file") {
  const ScratchFolder scratch;
  int number = 0;
  for (const auto dialect : {TarDialect::ustar, TarDialect::pax, TarDialect::gnu}) {
    for (const auto compression : {Compression::none, Compression::stored, Compression::deflate}) {
      PackOptions options;
      options.dialect = dialect;
      options.compression = compression;
      options.uuid.emplace();
      const Buffer file = pack(sample_members(), options);
      const auto parsed = parse_container(file);
      REQUIRE(parsed);
      const std::string folder = scratch.path("round" + std::to_string(number++));
      const auto unpacked = unpack_neff(*parsed, folder);
      if (!unpacked) FAIL(to_sentence(unpacked.error()));
      const auto members = read_folder(folder);
      REQUIRE(members);
      CHECK((pack(*members, options) == file));
    }
  }
}

TEST_CASE("read_folder sorts by whole path and leaves empty folders out") {
  const ScratchFolder scratch;
  put(scratch.path("in/a/z"), "1");
  put(scratch.path("in/a.b"), "2");
  put(scratch.path("in/empty.bin"), "");
  fs::create_directories(scratch.path("in/nothing"));
  const auto members = read_folder(scratch.path("in"));
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  CHECK((*members)[0].name == "a.b");
  CHECK((*members)[1].name == "a/z");
  CHECK((*members)[2].name == "empty.bin");
  CHECK((*members)[2].bytes.empty());
}

TEST_CASE("read_folder refuses links, pipes and things that are no folder") {
  const ScratchFolder scratch;
  put(scratch.path("link/a"), "1");
  fs::create_symlink("/etc/passwd", scratch.path("link/b"));
  const auto link = read_folder(scratch.path("link"));
  REQUIRE_FALSE(link);
  CHECK(link.error().error_class == ErrorClass::file);
  CHECK_THAT(to_sentence(link.error()), Contains("link/b") && Contains("symbolic link"));

  fs::create_directories(scratch.path("pipe"));
  REQUIRE(mkfifo(scratch.path("pipe/p").c_str(), 0600) == 0);
  CHECK_THAT(read_folder(scratch.path("pipe")).error().text, Contains("pipe"));
  CHECK_FALSE(read_folder(scratch.path("absent")));
  CHECK_FALSE(read_folder(scratch.path("link/a")));
}

TEST_CASE("unpacking needs an empty or absent folder") {
  const ScratchFolder scratch;
  put(scratch.path("full/a"), "keep");
  const Error error = unpack_refusal(pack(sample_members()), scratch.path("full"));
  CHECK(error.error_class == ErrorClass::file);
  CHECK_THAT(error.text, Contains("not empty"));
  CHECK(read_folder(scratch.path("full"))->size() == 1);

  put(scratch.path("file"), "x");
  CHECK(unpack_refusal(pack(sample_members()), scratch.path("file")).error_class ==
        ErrorClass::file);
  CHECK(unpack_refusal(pack(sample_members()), scratch.path("no/such/parent")).error_class ==
        ErrorClass::file);
}

TEST_CASE("unpacking fills a new folder, an empty one, a linked one and the current one alike") {
  const ScratchFolder scratch;
  const auto parsed = parse_container(pack(sample_members()));
  REQUIRE(parsed);
  fs::create_directories(scratch.path("empty"));
  fs::permissions(scratch.path("empty"), fs::perms::owner_all);
  fs::create_directories(scratch.path("linked"));
  fs::create_symlink(scratch.path("linked"), scratch.path("link"));
  fs::create_directories(scratch.path("current"));
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path("current"));
  for (const std::string& folder :
       {scratch.path("new"), scratch.path("slash//"), scratch.path("empty"), scratch.path("link"),
        std::string(".")}) {
    INFO(folder);
    const auto unpacked = unpack_neff(*parsed, folder);
    if (!unpacked) FAIL(to_sentence(unpacked.error()));
    const auto members = read_folder(folder);
    REQUIRE(members);
    REQUIRE(members->size() == parsed->members().size());
    for (std::size_t i = 0; i < members->size(); ++i) {
      CHECK((*members)[i].name == parsed->members()[i].name);
      CHECK(std::ranges::equal((*members)[i].bytes, parsed->members()[i].bytes));
    }
  }
  fs::current_path(before);
  CHECK(fs::status(scratch.path("empty")).permissions() == fs::perms::owner_all);
  CHECK(fs::is_symlink(scratch.path("link")));
  const auto begin = fs::directory_iterator(scratch.path(""));
  CHECK(std::distance(begin, fs::directory_iterator()) == 6);
}

TEST_CASE("names that are no file names are refused before anything is written") {
  const ScratchFolder scratch;
  for (const char* name : {"zz//b", "zz/./b", "./zz"}) {
    RawTar tar;
    tar.entry("aa", "1").entry(std::string("./") + name, "2").end();
    const Error error = unpack_refusal(wrap_tar(tar), scratch.path("out"));
    CHECK_THAT(error.text, Contains("no file name"));
    CHECK_FALSE(fs::exists(scratch.path("out")));
  }
}

TEST_CASE("a member that is both file and folder is an error, not an overwrite") {
  const ScratchFolder scratch;
  RawTar tar;
  tar.entry("a", "file").entry("a/b", "inside").end();
  const Error error = unpack_refusal(wrap_tar(tar), scratch.path("out"));
  CHECK(error.error_class == ErrorClass::file);
  CHECK_THAT(error.where.member, Contains("a/b"));
  CHECK(fs::is_empty(scratch.path("")));
  fs::create_directories(scratch.path("here"));
  CHECK_THAT(unpack_refusal(wrap_tar(tar), scratch.path("here")).where.member, Contains("a/b"));
  CHECK(fs::is_empty(scratch.path("here")));
}
