// SPDX-License-Identifier: MIT
// The header hash: both digests, both byte orders (spec 01 section 3, spec 08 section 1.2).
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;

namespace {

const ContainerOptions verifying = [] {
  ContainerOptions options;
  options.verify_hash = true;
  return options;
}();

Buffer packed(std::uint64_t pkg_version, bool word_swapped,
              Compression compression = Compression::deflate) {
  PackOptions options;
  options.pkg_version = pkg_version;
  options.word_swapped_hash = word_swapped;
  options.compression = compression;
  return pack(sample_members(), options);
}

}  // namespace

TEST_CASE("both packages verify in both byte orders and with any compression") {
  for (const std::uint64_t pkg : {1u, 2u}) {
    for (const auto compression : {Compression::none, Compression::stored, Compression::deflate}) {
      const auto plain = parse_container(packed(pkg, false, Compression::deflate), verifying);
      REQUIRE(plain);
      CHECK(plain->facts().hash_form == HashForm::plain);
      const Buffer swapped = packed(pkg, true, compression);
      const auto parsed = parse_container(swapped, verifying);
      REQUIRE(parsed);
      CHECK(parsed->facts().hash_form == HashForm::word_swapped);
      CHECK(hash_form_name(parsed->facts().hash_form) == "word-swapped");
    }
  }
}

TEST_CASE("the hash is not looked at unless asked") {
  Buffer file = packed(2, false);
  change_header(file, [](NeffHeader& h) { h.hash[3] ^= 1; });
  const auto parsed = parse_container(file);
  REQUIRE(parsed);
  CHECK(parsed->facts().hash_form == HashForm::not_checked);
}

TEST_CASE("a wrong hash is refused with both values, in the notes' words") {
  for (const std::uint64_t pkg : {1u, 2u}) {
    Buffer file = packed(pkg, false);
    change_header(file, [](NeffHeader& h) { h.hash[15] ^= 0x80; });
    const Error error = refusal(file, verifying);
    CHECK(error.status == Status::invalid);
    CHECK(error.error_class == ErrorClass::format);
    CHECK_THAT(error.text, Contains(pkg == 1 ? "SHA256 mismatch!" : "MD5 mismatch!"));
    CHECK_THAT(error.text, Contains("expected"));
  }
}

TEST_CASE("bytes 16 to 31 of the hash count for package 1 only") {
  Buffer md5 = packed(2, false), sha = packed(1, false);
  change_header(md5, [](NeffHeader& h) { h.hash[16] ^= 1; });
  change_header(sha, [](NeffHeader& h) { h.hash[16] ^= 1; });
  CHECK(parse_container(md5, verifying));
  CHECK_THAT(refusal(sha, verifying).text, Contains("SHA256 mismatch!"));
}

TEST_CASE("a damaged payload fails the hash first when it is verified") {
  Buffer file = packed(2, false);
  file[2000] ^= 4;
  CHECK_THAT(refusal(file, verifying).text, Contains("MD5 mismatch!"));
  CHECK_THAT(refusal(file).text, Contains("gzip"));
}

TEST_CASE("a payload large enough for a thread of its own is verified alike") {
  for (const std::uint64_t pkg : {1u, 2u}) {
    for (const auto compression : {Compression::none, Compression::stored}) {
      PackOptions options;
      options.pkg_version = pkg;
      options.compression = compression;
      Buffer file = pack({{"large.bin", Buffer(1 << 20, 7), false}}, options);
      const auto parsed = parse_container(file, verifying);
      REQUIRE(parsed);
      CHECK(parsed->facts().hash_form == HashForm::plain);
      file[sizeof(NeffHeader) + (1 << 19)] ^= 1;
      CHECK_THAT(refusal(file, verifying).text, Contains("mismatch!"));
      file[sizeof(NeffHeader) + 20] ^= 0xFF;  // the start of the archive is broken, too
      CHECK_THAT(refusal(file, verifying).text, Contains("mismatch!"));
      CHECK_THAT(refusal(file).text, !Contains("mismatch!"));
    }
  }
}

TEST_CASE("an empty payload is an error with and without verification") {
  Buffer file = packed(2, false);
  change_header(file, [](NeffHeader& h) { h.data_size = 0; });
  CHECK_THAT(refusal(file, verifying).text, Contains("data_size is 0"));
  CHECK_THAT(refusal(file).text, Contains("empty"));
}
