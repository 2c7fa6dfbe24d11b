// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <functional>

#include "manifest/json_cursor.hpp"

using namespace neffld;

namespace {

struct CursorRow {
  std::string text;
  std::string path;
  std::string fragment;
};

/// Reads `{"a":[<value>]}` with `read` and returns the sentence, or "" on success.
std::string read_value(const std::string& value, const std::function<void(JsonCursor&)>& read) {
  const std::string text = "{\"a\":[" + value + "]}";
  JsonCursor cursor("m", as_bytes(text), 64);
  std::string_view key;
  cursor.begin_object();
  while (cursor.next_key(key)) {
    cursor.begin_array();
    while (cursor.next_element()) read(cursor);
  }
  const auto result = cursor.finish();
  return result ? "" : to_sentence(result.error());
}

std::string skip_all(const std::string& text) {
  JsonCursor cursor("m", as_bytes(text), 64);
  cursor.skip();
  const auto result = cursor.finish();
  return result ? "" : to_sentence(result.error());
}

}  // namespace

TEST_CASE("only plain unsigned integers in range are sizes") {
  const auto u64 = [](JsonCursor& cursor) { cursor.u64(); };
  const auto u32 = [](JsonCursor& cursor) { cursor.u32(); };
  for (const char* good : {"0", "1", "9", "1234567890123456789", "18446744073709551615"}) {
    CHECK(read_value(good, u64).empty());
  }
  for (const char* bad : {"-1", "-0", "1.0", "1e3", "1048576.0", "18446744073709551616", "1E400",
                          "\"5\"", "true", "null", "{}", "[1]"}) {
    INFO(bad);
    CHECK_FALSE(read_value(bad, u64).empty());
  }
  CHECK(read_value("1e3", u64) ==
        "m: $.a[0]: found 1e3, expected an unsigned integer (NRT_INVALID)");
  CHECK(read_value("4,-1", u64) ==
        "m: $.a[1]: found -1, expected an unsigned integer (NRT_INVALID)");
  CHECK(read_value("18446744073709551616", u64) ==
        "m: $.a[0]: found 18446744073709551616, expected an unsigned integer (NRT_INVALID)");
  CHECK(read_value("1.0", u64).find("found 1.0,") != std::string::npos);
  CHECK(read_value("\"5\"", u64).find("found \"5\", expected") != std::string::npos);
  CHECK(read_value("[1]", u64).find("found an array, expected") != std::string::npos);
  CHECK(read_value("4294967295", u32).empty());
  CHECK(read_value("4294967296", u32).find("at most 4294967295") != std::string::npos);
}

TEST_CASE("integers keep all their digits") {
  std::uint64_t value = 0;
  const auto keep = [&](JsonCursor& cursor) { value = cursor.u64(); };
  CHECK(read_value("18446744073709551615", keep).empty());
  CHECK(value == 18446744073709551615ull);
  CHECK(read_value("9007199254740993", keep).empty());
  CHECK(value == 9007199254740993ull);
  CHECK(read_value("4294967296", keep).empty());
  CHECK(value == 4294967296ull);
}

TEST_CASE("signed integers, numbers and booleans are read with their ranges") {
  std::int64_t value = 0;
  const auto i64 = [&](JsonCursor& cursor) { value = cursor.i64(); };
  CHECK(read_value("-9223372036854775808", i64).empty());
  CHECK(value == std::numeric_limits<std::int64_t>::min());
  CHECK(read_value("9223372036854775807", i64).empty());
  CHECK_FALSE(read_value("9223372036854775808", i64).empty());
  CHECK_FALSE(read_value("-9223372036854775809", i64).empty());
  CHECK_FALSE(read_value("0.5", i64).empty());
  double number = 0;
  CHECK(read_value("-2.5e1", [&](JsonCursor& cursor) { number = cursor.number(); }).empty());
  CHECK(number == -25.0);
  const auto boolean = [](JsonCursor& cursor) { cursor.boolean(); };
  for (const char* good : {"true", "false", "0", "1"}) CHECK(read_value(good, boolean).empty());
  for (const char* bad : {"2", "-1", "\"true\"", "null"}) {
    CHECK_FALSE(read_value(bad, boolean).empty());
  }
}

TEST_CASE("strings are decoded, with escapes and UTF-8") {
  std::string value;
  const auto keep = [&](JsonCursor& cursor) { value = cursor.string(); };
  const auto decoded = [&](const std::string& text) {
    CHECK(read_value(text, keep).empty());
    return value;
  };
  CHECK(decoded("\"\"").empty());
  CHECK(decoded("\"abcdefghijklmnop\"") == "abcdefghijklmnop");
  CHECK(decoded("\"a\\u0041\\n\\\"\\\\\"") == "aA\n\"\\");
  CHECK(decoded("\"\xC3\xA9\"") == "\xC3\xA9");
  CHECK(decoded("\"\\ud83d\\ude00\"") == "\xF0\x9F\x98\x80");
  for (const char* bad : {"\"", "\"abc", "\"\\x\"", "\"\\ud83d\"", "\"\x01\"", "\"\xC3\"",
                          "\"\xFF\"", "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "'a'"}) {
    INFO(bad);
    CHECK_FALSE(read_value(bad, keep).empty());
  }
}

TEST_CASE("strings of every length around the word size end at their quote") {
  for (std::size_t length = 0; length < 40; ++length) {
    std::string value;
    const std::string text = "\"" + std::string(length, 'x') + "\"";
    CHECK(read_value(text, [&](JsonCursor& c) { value = c.string(); }).empty());
    CHECK(value == std::string(length, 'x'));
  }
}

TEST_CASE("broken documents are refused with the byte offset") {
  for (const char* bad : {"",           " ",       "{",    "[",        "}",
                          "]",          "{]",      "[}",   "{\"a\"}",  "{\"a\":}",
                          "{\"a\":1,}", "[1,]",    "[,1]", "[1 2]",    "{\"a\":1 \"b\":2}",
                          "{1:2}",      "{,}",     "nul",  "nullx",    "tru",
                          "+1",         "01",      "1.",   ".5",       "1e",
                          "--1",        "0x10",    "[1]]", "{} {}",    "1 2",
                          "[1],",       "// c\n1", "NaN",  "Infinity", "{\"a\":1}x"}) {
    INFO(bad);
    CHECK_FALSE(skip_all(bad).empty());
  }
  CHECK(skip_all("{\"a\":[1 2]}") ==
        "m: $.a[0] at byte 0x8: invalid JSON: expected ',' or ']' behind a value (NRT_INVALID)");
  for (const char* good :
       {"1", "[]", "{}", " [ ] ", "{\"a\":[{},[],null,true,-1.5e3,\"\"]}\n\t\r "}) {
    INFO(good);
    CHECK(skip_all(good).empty());
  }
}

TEST_CASE("a NUL tail, a byte order mark and trailing bytes are refused") {
  CHECK(skip_all(std::string("{}\0", 3)).find("a NUL byte") != std::string::npos);
  CHECK(skip_all(std::string("{}\0{}", 5)).find("at byte 0x2") != std::string::npos);
  CHECK(skip_all(std::string("{\"a\0b\":1}", 9)).find("a NUL byte") != std::string::npos);
  CHECK(skip_all("\xEF\xBB\xBF{}").find("a byte order mark") != std::string::npos);
  CHECK(skip_all("{} x").find("bytes follow the end") != std::string::npos);
}

TEST_CASE("nesting is limited and costs no stack") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(skip_all(nested(64)).empty());
  CHECK(skip_all(nested(65)).find("nested deeper than 64 levels") != std::string::npos);
  CHECK(skip_all(std::string(1'000'000, '[')).find("nested deeper") != std::string::npos);
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  CHECK(skip_all(objects).find("nested deeper") != std::string::npos);
}

TEST_CASE("repeated keys are refused, known and unknown ones, few and many") {
  enum class Field : std::uint8_t { a, b };
  static constexpr KeyTable<Field, 2> table = {{{"a", Field::a}, {"b", Field::b}}};
  const auto read = [](const std::string& text) {
    JsonCursor cursor("m", as_bytes(text), 64);
    ObjectReader object(cursor, table);
    for (Field field{}; object.next(field);) cursor.skip();
    const auto result = cursor.finish();
    return result ? "" : to_sentence(result.error());
  };
  CHECK(read(R"({"b":1,"a":2,"c":3})").empty());
  CHECK(read(R"({"a":1,"b":2,"a":3})") == "m: $.a: duplicate key (NRT_INVALID)");
  CHECK(read(R"({"x":1,"x":2})") == "m: $.x: duplicate key (NRT_INVALID)");
  CHECK(read(R"({"a":1,"\u0061":2})") == "m: $.a: duplicate key (NRT_INVALID)");
  std::string many = "{";
  for (int i = 0; i < 50'000; ++i) many += "\"k" + std::to_string(i) + "\":0,";
  CHECK(read(many + "\"z\":0}").empty());
  CHECK(read(many + "\"k7\":0}") == "m: $.k7: duplicate key (NRT_INVALID)");
  CHECK(read(many + "\"k49999\":0}") == "m: $.k49999: duplicate key (NRT_INVALID)");
}

TEST_CASE("odd names are quoted in paths and cannot break a line") {
  const auto path = [](const std::string& name) {
    const std::string text = "{\"" + name + "\":-1}";
    JsonCursor cursor("m", as_bytes(text), 64);
    std::string_view key;
    cursor.begin_object();
    while (cursor.next_key(key)) cursor.u64();
    return cursor.finish().error().where.path;
  };
  CHECK(path("plain_1") == "$.plain_1");
  CHECK(path("-t125_i0") == "$[\"-t125_i0\"]");
  CHECK(path("#comment") == "$[\"#comment\"]");
  CHECK(path("a\\nb") == "$[\"a\\x0ab\"]");
  CHECK(path(std::string(100'000, 'k')).size() < 200);
}

TEST_CASE("the first error is kept") {
  const std::string text = "[-1,-2]";
  JsonCursor cursor("m", as_bytes(text), 64);
  cursor.begin_array();
  while (cursor.next_element()) cursor.u64();
  cursor.fail("later");
  CHECK(cursor.finish().error().where.path == "$[0]");
}
