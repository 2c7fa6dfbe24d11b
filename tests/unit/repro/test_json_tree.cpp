// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "repro/json_tree.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::string rewritten(std::string_view text) {
  const auto root = parse_json_parts(as_bytes(text));
  REQUIRE(root);
  return text_of(json_text(*root));
}

/// An array of so many values.
std::string many(std::size_t values) {
  std::string text = "[1";
  for (std::size_t i = 1; i < values; ++i) text += ",1";
  return text + "]";
}

}  // namespace

TEST_CASE("numbers, twins and texts of a document stay as they are") {
  for (const char* text :
       {R"({"a":18446744073709551616,"b":1e3,"c":-0.50,"a":1})", R"([null,true,false,"x\n\u0001"])",
        R"({})", R"([])", R"("text")", R"(17)",
        "[\"le\xff"
        "ft\"]"}) {
    CHECK(rewritten(text) == text);
  }
}

TEST_CASE("white space goes") {
  CHECK(rewritten(" { \"a\" : [ 1 , 2 ] } \n") == R"({"a":[1,2]})");
}

TEST_CASE("what is no JSON, or is nested or long without end, has no parts") {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1] x"), std::string(1000000, '['),
        std::string(1000, '[') + std::string(1000, ']'), many(2'000'001)}) {
    CHECK_FALSE(parse_json_parts(as_bytes(text)));
  }
}

TEST_CASE("parts that are not kept are not written, nor found again") {
  auto root = parse_json_parts(as_bytes(R"({"a":[1,{"x":2}],"b":{"y":3},"c":4})"));
  REQUIRE(root);
  const auto first = parts_at(*root, 1);
  REQUIRE(first.size() == 3);
  first[1]->kept = false;
  CHECK(text_of(json_text(*root)) == R"({"a":[1,{"x":2}],"c":4})");
  const auto second = parts_at(*root, 2);
  REQUIRE(second.size() == 2);
  second[0]->kept = false;
  CHECK(text_of(json_text(*root)) == R"({"a":[{"x":2}],"c":4})");
  CHECK(parts_at(*root, 3).size() == 1);
  CHECK(parts_at(*root, 4).empty());
}
