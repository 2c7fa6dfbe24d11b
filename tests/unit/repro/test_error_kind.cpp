// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "neffld/repro.hpp"

using namespace neffld;

namespace {

Error error(std::string text, Where where = {"sg00/def.json", "$.var.sum.size", 3, 0x40}) {
  return {Status::invalid, ErrorClass::format, std::move(where), std::move(text)};
}

bool same(const Error& a, const Error& b) {
  return error_kind(a) == error_kind(b);
}

}  // namespace

TEST_CASE("positions do not make another error") {
  const Error a = error("x", {"m", "$.dma[12].desc[3].to_off", 7, 0x80});
  CHECK(same(a, error("x", {"m", "$.dma[0].desc[1].to_off", 0, 0})));
}

TEST_CASE("status, class, member, path and the kinds of position do") {
  const Error a = error("x");
  Error b = a;
  b.status = Status::resource;
  CHECK_FALSE(same(a, b));
  b = a;
  b.error_class = ErrorClass::unsupported;
  CHECK_FALSE(same(a, b));
  CHECK_FALSE(same(a, error("x", {"sg01/def.json", "$.var.sum.size", 3, 0x40})));
  CHECK_FALSE(same(a, error("x", {"sg00/def.json", "$.var.left.size", 3, 0x40})));
  CHECK_FALSE(same(a, error("x", {"sg00/def.json", "$.var.sum.size", std::nullopt, 0x40})));
  CHECK_FALSE(same(a, error("x", {"sg00/def.json", "$.var.sum.size", 3, std::nullopt})));
}

TEST_CASE("a key that is a number in brackets is quoted and stays") {
  CHECK_FALSE(same(error("x", {"m", "$[\"1\"]", {}, {}}), error("x", {"m", "$[\"2\"]", {}, {}})));
}

TEST_CASE("the wrong value stays, limits and counts may change") {
  const Error a = error("no variable has the id 99, the largest is 4");
  CHECK(same(a, error("no variable has the id 99, the largest is 1")));
  CHECK_FALSE(same(a, error("no variable has the id 98, the largest is 4")));
  CHECK_FALSE(same(a, error("no variable has the id 99, the smallest is 4")));
  CHECK(same(error("hdr sz: 10000000000, file sz: f07d"),
             error("hdr sz: 10000000000, file sz: 400")));
}

TEST_CASE("numbers without a decimal digit are numbers, positions in the text are none") {
  CHECK(same(error("expected 7, got 0xc"), error("expected 7, got 0xd")));
  CHECK_FALSE(same(error("expected c, got 7"), error("expected d, got 7")));
  CHECK(same(error("slot 3 has opcode 9"), error("slot 0 has opcode 9")));
  CHECK_FALSE(same(error("slot 3 has opcode 9"), error("slot 3 has opcode 8")));
  CHECK(same(error("ends after 29696 bytes"), error("ends after 0 bytes")));
}

TEST_CASE("names stay, quoted or not, and are no values") {
  CHECK_FALSE(same(error("no queue set is called q1"), error("no queue set is called q2")));
  const Error a = error("queue 'qPoolIO0' has no DMA block 4711");
  CHECK_FALSE(same(a, error("queue 'qPoolIO1' has no DMA block 4711")));
  CHECK_FALSE(same(a, error("queue 'qPoolIO0' has no DMA block 4712")));
  CHECK_FALSE(same(error("'12' is 1"), error("'13' is 1")));
}

TEST_CASE("every amount of a shortage may change") {
  Error a = error("asked for 123 of 0x100 bytes");
  Error b = error("asked for 7 of 0x80 bytes");
  CHECK_FALSE(same(a, b));
  a.error_class = b.error_class = ErrorClass::resource;
  CHECK(same(a, b));
  a.error_class = b.error_class = ErrorClass::device;
  CHECK(same(a, b));
}
