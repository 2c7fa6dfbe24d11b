// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "npy/npy.hpp"

using namespace neffld;

namespace {

/// A file as numpy writes it: version, padded text, `data` bytes of elements.
std::string file_of(std::string text, std::size_t data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  while ((8 + length_bytes + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  for (std::size_t i = 0; i < length_bytes; ++i) {
    out += static_cast<char>(text.size() >> 8 * i & 0xFF);
  }
  return out + text + std::string(data, 'd');
}

std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

Result<NpyArray> read(const std::string& file) {
  return read_npy_start("a.npy", as_bytes(file), file.size());
}

void check_refused(const std::string& file, const std::string& text) {
  const auto result = read(file);
  REQUIRE_FALSE(result);
  CHECK(result.error().error_class == ErrorClass::format);
  CHECK(result.error().where.member == "a.npy");
  INFO(to_sentence(result.error()));
  CHECK(to_sentence(result.error()).find(text) != std::string::npos);
}

}  // namespace

TEST_CASE("npy files of all three versions are read") {
  for (const int version : {1, 2, 3}) {
    const std::string file = file_of(dict("'<f4'", "False", "(2, 3)"), 24, version);
    const auto array = read(file);
    REQUIRE(array);
    CHECK(array->type == NpyType{'f', 4});
    CHECK(array->shape == std::vector<std::uint64_t>{2, 3});
    CHECK_FALSE(array->fortran_order);
    CHECK(array->data_bytes == 24);
    CHECK(array->data_offset == file.size() - 24);
  }
}

TEST_CASE("npy texts may be written in any legal form") {
  for (const char* text :
       {"{'shape':(4,),'fortran_order':False,'descr':\"<f2\"}",
        "{ \"descr\" : '<f2' , 'shape' : ( 4 , ) , 'fortran_order' : False , }\n\n"}) {
    const auto array = read(file_of(text, 8));
    REQUIRE(array);
    CHECK(array->type == NpyType{'f', 2});
    CHECK(array->shape == std::vector<std::uint64_t>{4});
  }
  const auto scalar = read(file_of(dict("'|i1'", "False", "()"), 1));
  REQUIRE(scalar);
  CHECK(scalar->shape.empty());
  CHECK(read(file_of(dict("'<V2'", "False", "(2, 0, 3)"), 0)));
  CHECK(read(file_of(dict("'|V2'", "True", "(3,)"), 6)));
}

TEST_CASE("the start of a large npy file is enough") {
  const std::string file = file_of(dict("'<f4'", "False", "(1000000000,)"), 0);
  const auto array = read_npy_start("a.npy", as_bytes(file), file.size() + 4000000000);
  REQUIRE(array);
  CHECK(array->data_bytes == 4000000000);
}

TEST_CASE("hostile and foreign npy headers are refused by name") {
  const std::string good = file_of(dict("'<f4'", "False", "(2,)"), 8);
  check_refused("", "cut off");
  check_refused(good.substr(0, 9), "cut off");
  check_refused(file_of("", 0, 2).substr(0, 11), "cut off");
  check_refused("\x93NUMPX" + good.substr(6), "not \"NUMPY\"");
  check_refused(file_of(dict("'<f4'", "False", "(2,)"), 8, 4), "version 4 is not supported");
  check_refused(good.substr(0, 40), "does not fit");
  check_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14), "does not fit");
  check_refused(file_of(std::string(70000, ' '), 0, 2), "expected at most 65536");
  check_refused(file_of(dict("'>f4'", "False", "(2,)"), 8), "little-endian");
  check_refused(file_of(dict("'|O'", "False", "(2,)"), 8), "expected numbers");
  check_refused(file_of(dict("'<U4'", "False", "(2,)"), 8), "expected numbers");
  check_refused(file_of(dict("'<M8[ns]'", "False", "(1,)"), 8), "expected numbers");
  check_refused(file_of(dict("'<f0'", "False", "(2,)"), 8), "element size");
  check_refused(file_of(dict("'<f4x'", "False", "(2,)"), 8), "element size");
  check_refused(file_of(dict("'<f99999999999'", "False", "(2,)"), 8), "element size");
  check_refused(file_of(dict("'\x1b[31m'", "False", "(2,)"), 8), "\\x1b");
  check_refused(file_of(dict("[('a', '<f4')]", "False", "(2,)"), 8), "structured");
  check_refused(file_of(dict("'<f4'", "0", "(2,)"), 8), "True or False");
  check_refused(file_of(dict("'<f4'", "False", "2"), 8), "'('");
  check_refused(file_of(dict("'<f4'", "False", "(2)"), 8), "behind the only dimension");
  check_refused(file_of(dict("'<f4'", "False", "(-2,)"), 8), "expected a dimension");
  check_refused(file_of(dict("'<f4'", "False", "(99999999999999999999,)"), 8), "a dimension");
  check_refused(file_of(dict("'<f4'", "False", "(4611686018427387904, 4)"), 8), "more than 2^64");
  check_refused(file_of(dict("'<f4'", "False", "(2,)"), 9),
                "found 9 bytes of elements, expected 8");
  check_refused(file_of(dict("'<f4'", "False", "(2,)"), 7), "found 7 bytes");
  check_refused(file_of("{'descr': '<f4', 'shape': (2,)}", 8), "fortran_order");
  check_refused(file_of("{'descr': '<f4', 'descr': '<f4'}", 8), "repeated or unknown");
  check_refused(file_of("{'descr': '<f4', 'x': 1}", 8), "repeated or unknown");
  check_refused(file_of("{'descr': '<f4", 8), "has no end");
  check_refused(file_of(dict("'<f4'", "False", "(2,)") + "import os", 8), "white space");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  check_refused(file_of(dict("'<f4'", "False", many + ")"), 4), "at most 64");
}

TEST_CASE("every cut of an npy file is refused") {
  const std::string good = file_of(dict("'<f4'", "False", "(2,)"), 8);
  for (std::size_t size = 0; size < good.size(); ++size) CHECK_FALSE(read(good.substr(0, size)));
}

TEST_CASE("Fortran order becomes C order") {
  // [2, 3, 2] with value 100 i + 10 j + k, first index fastest in the file.
  NpyArray array{{'u', 1}, true, {2, 3, 2}, 0, 12};
  std::vector<std::uint8_t> file, wanted;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) file.push_back(static_cast<std::uint8_t>(100 * i + 10 * j + k));
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 2; ++k) wanted.push_back(static_cast<std::uint8_t>(100 * i + 10 * j + k));
    }
  }
  CHECK(to_c_order(array, file) == wanted);
}

TEST_CASE("a written npy header is read back, and elements are aligned") {
  std::vector<std::uint64_t> many(64, 1);
  for (const auto& shape : std::vector<std::vector<std::uint64_t>>{{}, {5}, {2, 3}, many}) {
    for (const NpyType type : {NpyType{'f', 4}, NpyType{'V', 2}, NpyType{'i', 1}}) {
      const std::vector<std::uint8_t> header = npy_header(type, shape);
      CHECK(header.size() % 64 == 0);
      std::uint64_t elements = 1;
      for (const std::uint64_t dim : shape) elements *= dim;
      const auto array =
          read_npy_start("a.npy", header, header.size() + elements * type.element_bytes);
      REQUIRE(array);
      CHECK(array->type == type);
      CHECK(array->shape == shape);
      CHECK_FALSE(array->fortran_order);
    }
  }
  const std::vector<std::uint8_t> header = npy_header({'f', 4}, {2, 3});
  CHECK(as_text(Bytes(header).subspan(10))
            .starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  CHECK(header.back() == '\n');
}

TEST_CASE("types of models and of npy files are matched") {
  CHECK(npy_type_fits({'f', 4}, "float32"));
  CHECK_FALSE(npy_type_fits({'f', 2}, "float32"));
  CHECK_FALSE(npy_type_fits({'i', 4}, "float32"));
  CHECK(npy_type_fits({'V', 2}, "bfloat16"));
  CHECK(npy_type_fits({'u', 2}, "bfloat16"));
  CHECK_FALSE(npy_type_fits({'f', 2}, "bfloat16"));
  CHECK(npy_type_fits({'u', 1}, "float8_e4m3"));
  CHECK_FALSE(npy_type_fits({'u', 2}, "float8_e4m3"));
  CHECK(npy_type_name(npy_type_of("uint64")) == "uint64");
  CHECK(npy_type_name({'f', 8}) == "f8");
}
