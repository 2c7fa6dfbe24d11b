// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <new>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

using namespace neffld;

TEST_CASE("an error is one sentence that names place, finding and status") {
  const Error error{Status::invalid, ErrorClass::format,
                    Where{"sg00/def.json", "$.var.x.size", 3, 0x40},
                    "found -1, expected an unsigned integer"};
  CHECK(to_sentence(error) ==
        "sg00/def.json: $.var.x.size record 3 at byte 0x40: found -1, expected an unsigned integer "
        "(NRT_INVALID)");
}

TEST_CASE("a sentence is one line of text, whatever the names in it are") {
  const Error error{Status::invalid,
                    ErrorClass::format,
                    {"a\nb", "\x1b[31m", 3, std::nullopt},
                    std::string("names queue 'q\x06\r\0\xde\u0085'", 21)};
  CHECK(to_sentence(error) ==
        "a\\x0ab: \\x1b[31m record 3: names queue 'q\\x06\\x0d\\x00\uFFFD\\u{85}' (NRT_INVALID)");
}

TEST_CASE("error classes map to the documented exit codes") {
  CHECK(exit_code(ErrorClass::check) == 1);
  CHECK(exit_code(ErrorClass::usage) == 2);
  CHECK(exit_code(ErrorClass::file) == 3);
  CHECK(exit_code(ErrorClass::format) == 4);
  CHECK(exit_code(ErrorClass::unsupported) == 5);
  CHECK(exit_code(ErrorClass::resource) == 6);
  CHECK(exit_code(ErrorClass::device) == 7);
}

TEST_CASE("guarded turns exhausted memory into a status") {
  const auto result = guarded([]() -> Result<int> { throw std::bad_alloc(); });
  REQUIRE_FALSE(result);
  CHECK(result.error().status == Status::resource);
}

TEST_CASE("little-endian fields have no alignment and keep byte order") {
  std::uint8_t raw[12] = {};
  store_le<std::uint64_t>(raw, 3, 0x1122334455667788ull);
  CHECK(raw[3] == 0x88);
  CHECK(raw[10] == 0x11);
  CHECK(load_le<std::uint32_t>(raw, 3) == 0x55667788u);
  CHECK(load_le<std::int64_t>(raw, 3) == 0x1122334455667788ll);
}
