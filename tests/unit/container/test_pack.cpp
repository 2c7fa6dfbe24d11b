// SPDX-License-Identifier: MIT
// The writer (spec 01 section 8.2).
#include <catch2/catch.hpp>

#include "support.hpp"
#include "tar_write.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;

namespace {

Error pack_refusal(const std::vector<PackMember>& members, const PackOptions& options = {}) {
  const auto file = pack_neff(members, options);
  REQUIRE_FALSE(file);
  return file.error();
}

TarBlock last_block(Bytes headers) {
  REQUIRE(headers.size() % 512 == 0);
  TarBlock block;
  std::memcpy(&block, headers.data() + headers.size() - 512, 512);
  return block;
}

}  // namespace

TEST_CASE("header fields arrive in the file as given") {
  PackOptions options;
  options.version_major = 1;
  options.version_minor = 4;
  options.build_version = "2.0.1";
  options.name = "model";
  options.num_tpb = 3;
  options.requested_tpb_count = 4;
  options.tpb_per_node = {1, 2};
  options.vnc_size = 2;
  options.hash_tail = 0x30;
  const Buffer file = pack(sample_members(), options);
  const auto header = check_header(file);
  REQUIRE(header);
  CHECK(header->pkg_version == 2);
  CHECK(header->header_size == 1024);
  CHECK(header->data_size == file.size() - 1024);
  CHECK(header->neff_version_major == 1);
  CHECK(header->neff_version_minor == 4);
  CHECK(header_build(*header) == "2.0.1");
  CHECK(header_name(*header) == "model");
  CHECK(header->num_tpb == 3);
  CHECK(header->requested_tpb_count == 4);
  CHECK(header->tpb_per_node[1] == 2);
  CHECK(header->vnc_size == 2);
  CHECK(header->hash[16] == 0x30);
  CHECK((file.size() - 1024) % 10240 == 0);
}

TEST_CASE("feature bits raise the major version to 2") {
  PackOptions options;
  options.version_major = 1;
  options.feature_bits = 0x400;
  CHECK(check_header(pack(sample_members(), options))->neff_version_major == 2);
}

TEST_CASE("an absent uuid becomes a fresh version-4 one") {
  const auto first = *check_header(pack(sample_members()));
  const auto second = *check_header(pack(sample_members()));
  CHECK((first.uuid[6] & 0xF0) == 0x40);
  CHECK((first.uuid[8] & 0xC0) == 0x80);
  CHECK(header_uuid(first) != header_uuid(second));
}

TEST_CASE("the same input gives the same bytes") {
  PackOptions options;
  options.uuid.emplace();
  CHECK((pack(sample_members(), options) == pack(sample_members(), options)));
}

TEST_CASE("members that no reader would accept are refused by name") {
  CHECK_THAT(pack_refusal({member("", "x")}).text, Contains("empty"));
  CHECK_THAT(pack_refusal({member("/a", "x")}).text, Contains("absolute"));
  CHECK_THAT(pack_refusal({member("a/../b", "x")}).text, Contains("'..'"));
  CHECK_THAT(pack_refusal({member("a/", "x")}).text, Contains("may not end in '/'"));
  CHECK_THAT(pack_refusal({member(std::string(5000, 'n'), "x")}).text, Contains("5000"));
  CHECK_THAT(pack_refusal({{"d/", {1}, true}}).text, Contains("a directory has no bytes"));
  const Error twin = pack_refusal({member("sg00/a", "1"), member("./sg00/a", "2")});
  CHECK(twin.where.member == "./sg00/a");
  CHECK_THAT(twin.text, Contains("unique"));
}

TEST_CASE("header texts that do not fit are refused by field") {
  PackOptions name, build, pkg;
  name.name = std::string(257, 'n');
  build.build_version = std::string(129, 'b');
  pkg.pkg_version = 3;
  CHECK(pack_refusal(sample_members(), name).where.path == "name");
  CHECK(pack_refusal(sample_members(), build).where.path == "neff_build_version");
  CHECK(pack_refusal(sample_members(), pkg).where.path == "pkg_version");
  name.name = std::string(256, 'n');
  CHECK(parse_container(pack(sample_members(), name)));
}

TEST_CASE("long names: split for ustar, extension headers for pax and GNU, else refused") {
  const std::string split = std::string(140, 'd') + "/" + std::string(100, 'f');
  const std::string whole = std::string(300, 'n');
  for (const auto dialect : {TarDialect::ustar, TarDialect::pax, TarDialect::gnu}) {
    PackOptions options;
    options.dialect = dialect;
    for (const std::string& name : {split, whole, std::string(100, 'e'), split + "x"}) {
      if (dialect == TarDialect::ustar && (name == whole || name.ends_with('x'))) {
        CHECK_THAT(pack_refusal({member(name, "x")}, options).text,
                   Contains("use the pax or GNU dialect"));
        continue;
      }
      const Buffer file = pack({member(name, "x")}, options);
      const auto parsed = parse_container(file);
      REQUIRE(parsed);
      CHECK(parsed->find(name) != nullptr);
    }
  }
}

TEST_CASE("sizes and owners beyond the octal fields use each dialect's way out") {
  constexpr std::uint64_t eight_gib = 8ull << 30;
  TarOwner owner;
  const auto fits = tar_headers("a", eight_gib - 1, false, TarDialect::ustar, owner);
  REQUIRE(fits);
  CHECK(tar_number(last_block(*fits).size) == eight_gib - 1);
  CHECK_THAT(tar_headers("a", eight_gib, false, TarDialect::ustar, owner).error().text,
             Contains("use the pax or GNU dialect"));
  const auto gnu = tar_headers("a", eight_gib, false, TarDialect::gnu, owner);
  REQUIRE(gnu);
  CHECK(tar_number(last_block(*gnu).size) == eight_gib);
  const auto pax = tar_headers("a", eight_gib, false, TarDialect::pax, owner);
  REQUIRE(pax);
  CHECK(as_text(*pax).find("19 size=8589934592\n") != std::string_view::npos);

  owner.uid = 1u << 21;
  CHECK_FALSE(tar_headers("a", 1, false, TarDialect::ustar, owner));
  for (const auto dialect : {TarDialect::pax, TarDialect::gnu}) {
    PackOptions options;
    options.dialect = dialect;
    options.owner = owner;
    CHECK(parse_container(pack(sample_members(), options)));
  }
}

TEST_CASE("pax members carry ctime, atime and mtime in the order of public compilers") {
  const auto headers = tar_headers("sg00/a", 1, false, TarDialect::pax, TarOwner{});
  REQUIRE(headers);
  CHECK(as_text(*headers).substr(0, 17) == std::string_view("sg00/PaxHeader/a\0", 17));
  CHECK(as_text(*headers).substr(512, 33) == "11 ctime=0\n11 atime=0\n11 mtime=0\n");
}

TEST_CASE("padding of payload and tar can be chosen") {
  PackOptions options;
  options.pad_payload = false;
  CHECK(parse_container(pack(sample_members(), options))->facts().padding_bytes == 0);
  options.compression = Compression::none;
  options.pad_tar = true;
  CHECK((pack(sample_members(), options).size() - 1024) % 10240 == 0);
}
