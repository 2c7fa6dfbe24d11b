// SPDX-License-Identifier: MIT
// The golden vector of spec 01 section 9.3: every digest in its table.
#include <isa-l/crc.h>
#include <openssl/evp.h>

#include <catch2/catch.hpp>

#include "fixture.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::string digest(Bytes bytes, const EVP_MD* kind) {
  std::uint8_t raw[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  REQUIRE(EVP_Digest(bytes.data(), bytes.size(), raw, &size, kind, nullptr) == 1);
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char digits[] = "0123456789abcdef";
    text += {digits[raw[i] >> 4], digits[raw[i] & 15]};
  }
  return text;
}

std::string md5(Bytes bytes) {
  return digest(bytes, EVP_md5());
}
std::string sha256(Bytes bytes) {
  return digest(bytes, EVP_sha256());
}

}  // namespace

TEST_CASE("the fixture's members have the digests of the golden table") {
  const std::pair<const char*, const char*> expected[] = {
      {"kelf-a.json", "cc94a9ca1dffbc295012f692855625d5"},
      {"neff.json", "b1f0e5a4f213d6450e8567af0aa46883"},
      {"sg00/pe.json", "bfc93ce9db9035af6e5c5832ed7ded9e"},
      {"sg00/sp.json", "9b4003fd1501ac4c47dc00c77f18013b"},
      {"sg00/dve.json", "dffce7eeb24aa389f5acccca5fe6c960"},
      {"sg00/pool.json", "5c5e481d63f667a737e6c634741d49e0"},
      {"sg00/def.json", "69a519cc5645eb486b5f8b7524673587"},
      {"sg00/act.json", "76651e87eb951140fcfd89f0b31dbc48"},
      {"sg00/pe.asm", "f29523f090390ca0ca86df1706b3679b"},
      {"sg00/pool.asm", "7c9340c2ed45801efb8ef1779f43a21a"},
      {"sg00/pe.bin", "f5c01e499e4e49ac4ef559ce7e673436"},
      {"sg00/pool.bin", "25daba764d4de4444cbf460a1e52df2f"},
  };
  const Buffer file = fixture_neff();
  const auto container = parse_container(file);
  REQUIRE(container);
  for (const auto& [name, sum] : expected) {
    INFO(name);
    const Member* found = container->find(name);
    REQUIRE(found != nullptr);
    CHECK(md5(found->bytes) == sum);
  }
}

TEST_CASE("the fixture's tar, gzip and file have the digests of the golden table") {
  PackOptions plain = fixture_options();
  plain.compression = Compression::none;
  const Buffer uncompressed = pack(fixture_members(), plain);
  const Bytes tar = Bytes(uncompressed).subspan(1024);
  CHECK(tar.size() == 20480);
  CHECK(md5(tar) == "75c68926709d0fb99b2198d863a410f5");
  CHECK(crc32_gzip_refl(0, tar.data(), tar.size()) == 0x6494C90F);
  CHECK(sha256(tar) == "2e282c1ae01d9bdebd01b842fdcd4e46d42044c3852972cdf8194f454efc34e5");

  const Buffer file = fixture_neff();
  CHECK(file.size() == 21527);
  CHECK(md5(Bytes(file).subspan(1024)) == "9ea4b80eff92b54b09e57ea22f2d7f1b");
  CHECK(sha256(file) == "7785dd71f3647789843fd4b3c48f1ac0811c0355524c2457dede07574b1ad01c");
}

TEST_CASE("the first tar header of the fixture is the original's, names of people aside") {
  PackOptions plain = fixture_options();
  plain.compression = Compression::none;
  const Buffer file = pack(fixture_members(), plain);
  TarBlock block;
  std::memcpy(&block, file.data() + 1024, sizeof block);
  const std::uint8_t uid[] = {0x80, 0, 0, 0, 0x25, 0x52, 0xE0, 0x77};
  const std::uint8_t gid[] = {0x80, 0, 0, 0, 0x23, 0xC7, 0x3F, 0xA1};
  CHECK(std::memcmp(block.uid, uid, 8) == 0);
  CHECK(std::memcmp(block.gid, gid, 8) == 0);
  CHECK(as_text(block.size) == std::string_view("00000000201\0", 12));
  CHECK(as_text(block.mtime) == std::string_view("14714250600\0", 12));
  // The original has an 8-character login and "domain^users" in the name fields; only their sum is
  // known: with the published checksum it must come out as a login of letters and digits.
  std::memset(block.uname, 0, sizeof block.uname);
  std::memset(block.gname, 0, sizeof block.gname);
  std::memcpy(block.gname, "domain^users", 12);
  const std::uint64_t login = 015122 - tar_checksums(block).of_unsigned;
  CHECK(login > 8 * '0');
  CHECK(login < 8 * 'z');
}

TEST_CASE("the fixture parses to 18 members, the directory left out") {
  const Buffer file = fixture_neff();
  ContainerOptions options;
  options.verify_hash = true;
  const auto container = parse_container(file, options);
  REQUIRE(container);
  CHECK(container->members().size() == 18);
  CHECK(container->facts().tar_dialect == "gnu");
  CHECK(container->facts().hash_form == HashForm::plain);
  CHECK(container->facts().inflated_bytes == 20480);
  CHECK(container->facts().padding_bytes == 0);
  CHECK(container->facts().warnings.empty());
  CHECK(header_name(container->header()) == "x");
  CHECK(header_uuid(container->header()) == "561826fb-125f-4bb8-991c-29e085c8949a");
  CHECK(header_build(container->header()) == "2.0.21884.0%kaena-tools/develop@6c66f4b");
  CHECK(container->find("sg00/sp.asm")->bytes.empty());
  CHECK(container->find("sg00/") == nullptr);
}
