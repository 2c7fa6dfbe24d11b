// SPDX-License-Identifier: MIT
// The preflight gates in order (spec 01 sections 2 and 10).
#include <catch2/catch.hpp>

#include "fixture.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// Changes the fixture's header and returns what the gates say.
template <class Change>
Result<NeffHeader> gates(Change change) {
  Buffer file = fixture_neff();
  change_header(file, change);
  return check_header(file);
}

template <class Change>
void refused(Status status, ErrorClass error_class, const char* text, Change change) {
  const auto result = gates(change);
  REQUIRE_FALSE(result);
  CHECK(result.error().status == status);
  CHECK(result.error().error_class == error_class);
  CHECK_THAT(result.error().text, StartsWith(text));
}

constexpr auto too_new = Status::unsupported_neff_version;

}  // namespace

TEST_CASE("gate 1: a null buffer is refused") {
  const auto result = check_header({});
  REQUIRE_FALSE(result);
  CHECK(result.error().status == Status::invalid);
  CHECK_THAT(result.error().text, StartsWith("Invalid NEFF buffer"));
}

TEST_CASE("gates 2 and 3: too small files are refused with the size") {
  const Buffer file = fixture_neff();
  for (const std::size_t size : {1u, 512u, 1023u}) {
    const auto result = check_header(Bytes(file).first(size));
    REQUIRE_FALSE(result);
    CHECK_THAT(result.error().text, StartsWith("Invalid number of NEFF bytes received "));
  }
  CHECK_THAT(check_header(Bytes(file).first(1023)).error().text, Contains("received 3ff"));
  const auto header_only = check_header(Bytes(file).first(1024));
  REQUIRE_FALSE(header_only);
  CHECK(header_only.error().status == Status::invalid);
  CHECK_THAT(header_only.error().text,
             StartsWith("Invalid NEFF file size hdr sz: 400, file sz: 400:"));
}

TEST_CASE("gate 3: the header size must be smaller than the file, and is otherwise ignored") {
  const auto size = fixture_neff().size();
  refused(Status::invalid, ErrorClass::format,
          "Invalid NEFF file size hdr sz: ", [size](NeffHeader& h) { h.header_size = size; });
  refused(Status::invalid, ErrorClass::format, "Invalid NEFF file size hdr sz: 10000000000, ",
          [](NeffHeader& h) { h.header_size = std::uint64_t{1} << 40; });
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, size - 1}) {
    Buffer file = fixture_neff();
    change_header(file, [value](NeffHeader& h) { h.header_size = value; });
    const auto container = parse_container(file);
    REQUIRE(container);
    CHECK(container->members().size() == 18);
  }
}

TEST_CASE("gate 4: majors 0 to 2 pass, any minor passes, 3 is refused before the packager") {
  for (const std::uint64_t major : {0u, 1u, 2u}) {
    CHECK(gates([major](NeffHeader& h) {
      h.neff_version_major = major;
      h.neff_version_minor = 9999;
    }));
  }
  refused(too_new, ErrorClass::unsupported,
          "NEFF version: 3.7 is not supported, accepted version range: 0.x-2.x", [](NeffHeader& h) {
            h.neff_version_major = 3;
            h.neff_version_minor = 7;
            h.pkg_version = 9;
          });
  refused(too_new, ErrorClass::unsupported, "NEFF version: 3.", [](NeffHeader& h) {
    h.neff_version_major = 3;
    h.data_size = ~std::uint64_t{0};
  });
}

TEST_CASE("gate 5: feature bits 27 to 62 are refused for major 2 only, bit 63 never") {
  const auto with = [](std::uint64_t major, std::uint64_t bits) {
    return gates([=](NeffHeader& h) {
      h.neff_version_major = major;
      h.feature_bits = bits;
    });
  };
  for (unsigned bit = 0; bit < 64; ++bit) {
    INFO("bit " << bit);
    const auto result = with(2, std::uint64_t{1} << bit);
    CHECK(result.has_value() == (bit < 27 || bit == 63));
    CHECK(with(1, std::uint64_t{1} << bit));
    if (result) continue;
    CHECK(result.error().status == too_new);
    CHECK(result.error().error_class == ErrorClass::unsupported);
  }
  const auto two = with(2, 1ull << 27 | 1ull << 40 | 1ull << 63 | 5);
  REQUIRE_FALSE(two);
  CHECK_THAT(two.error().text,
             StartsWith("This NEFF (version: 2.0, features: 0x10008000000) has been compiled by a "
                        "newer version of Neuron compiler. Features supported by this Neuron "
                        "Runtime: 0x7ffffff. Please update the aws-neuronx-runtime-lib package to "
                        "the latest version."));
  CHECK_THAT(two.error().text, Contains("27, 40") && Contains("bits 0 to 26"));
}

TEST_CASE("gate 6: the payload must lie inside the file, without wrapping around") {
  const std::uint64_t room = fixture_neff().size() - 1024;
  CHECK(gates([room](NeffHeader& h) { h.data_size = room; }));
  for (const std::uint64_t size : {room + 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 1023}) {
    refused(Status::invalid, ErrorClass::format, "Invalid NEFF data size(",
            [size](NeffHeader& h) { h.data_size = size; });
  }
  refused(Status::invalid, ErrorClass::format, "Invalid NEFF data size(", [room](NeffHeader& h) {
    h.data_size = room + 1;
    h.pkg_version = 9;
  });
}

TEST_CASE("gate 7: packagers other than 1 and 2 are refused") {
  for (const std::uint64_t version : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    refused(too_new, ErrorClass::unsupported,
            "Unsupported NEFF packager: ", [version](NeffHeader& h) { h.pkg_version = version; });
  }
}

TEST_CASE("a header of the public packager is accepted: version 1.0, full name, version-1 uuid") {
  Buffer file = fixture_neff();
  change_header(file, [](NeffHeader& h) {
    h.neff_version_major = 1;
    std::memset(h.neff_build_version, 0, sizeof h.neff_build_version);
    std::memset(h.name, 'n', sizeof h.name);
    h.uuid[6] = 0x1F;
  });
  const auto container = parse_container(file);
  REQUIRE(container);
  CHECK(header_name(container->header()) == std::string(255, 'n'));
  CHECK(header_build(container->header()).empty());
}

TEST_CASE("feature names are the field's, and unnamed bits are numbered") {
  CHECK(feature_names(0).empty());
  CHECK(feature_names(0xC00) == std::vector<std::string>{"neff_feature_vnc", "DVE perf mode"});
  CHECK(feature_names(1ull << 18 | 1ull << 63) == std::vector<std::string>{"bit 18", "bit 63"});
}

TEST_CASE("bytes behind data_size are ignored with a warning") {
  Buffer file = fixture_neff();
  file.insert(file.end(), 100, 0xEE);
  const auto container = parse_container(file);
  REQUIRE(container);
  REQUIRE(container->facts().warnings.size() == 1);
  CHECK_THAT(container->facts().warnings[0], Contains("100 bytes"));
}
