// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "neffld/text.hpp"

using namespace neffld;

TEST_CASE("text stays on its line and cannot reorder what stands beside it") {
  CHECK(one_line("plain \xC3\xA4 \xE6\xBC\xA2 \xF0\x9F\x98\x80") ==
        "plain \xC3\xA4 \xE6\xBC\xA2 \xF0\x9F\x98\x80");
  CHECK(one_line("a\nb\x1b[2J\x7f") == "a\\x0ab\\x1b[2J\\x7f");
  CHECK(one_line("\xC2\x80\xC2\x9B\xC2\x9F\xC2\xA0") == "\\u{80}\\u{9b}\\u{9f}\xC2\xA0");
  CHECK(one_line("\xD8\x9C\xE2\x80\x8E\xE2\x80\x8F") == "\\u{61c}\\u{200e}\\u{200f}");
  CHECK(one_line("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAE") ==
        "\\u{2028}\\u{2029}\\u{202a}\\u{202e}");
  CHECK(one_line("\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xB0") == "\\u{2066}\\u{2069}\xE2\x81\xB0");
  CHECK(one_line("a\xE2\x80\x8B"
                 "b\xEF\xBB\xBF\xE2\x81\xAA") == "a\\u{200b}b\\u{feff}\\u{206a}");
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
  const std::string r = "\xEF\xBF\xBD";
  CHECK(valid_utf8("a\xFFz") == "a" + r + "z");
  CHECK(valid_utf8("\xC0\x80") == r + r);  // too long a form
  CHECK(valid_utf8("\xE0\x80\x80") == r + r + r);
  CHECK(valid_utf8("\xED\xA0\x80") == r + r + r);          // surrogate
  CHECK(valid_utf8("\xF4\x90\x80\x80") == r + r + r + r);  // above U+10FFFF
  CHECK(valid_utf8("\xE2\x82") == r + r);                  // cut off
  CHECK(valid_utf8("\x9B") == r);
}
