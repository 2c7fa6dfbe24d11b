// SPDX-License-Identifier: MIT
// GPSIMD libraries of the model (spec 02 section 8.3).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kbin/sections.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

constexpr std::int64_t builtin_opcode = -123;  // 0x85, CUSTOM_OP_HEADER, as a signed byte
constexpr std::uint32_t user_flags = 6;
constexpr std::uint32_t abi_major = 1;  // of the runtime's GPSIMD ABI, 1.21.1.0

enum class FunctionField : std::uint8_t { name, opcode, sub_opcode };
constexpr KeyTable<FunctionField, 3> function_fields = {
    {{"name", FunctionField::name},
     {"opcode", FunctionField::opcode},
     {"sub_opcode", FunctionField::sub_opcode}}};

UcodeFunction read_function(JsonCursor& cursor) {
  UcodeFunction function;
  ObjectReader object(cursor, function_fields);
  for (FunctionField field{}; object.next(field);) {
    // Opcodes are bytes, written with or without sign.
    switch (field) {
      case FunctionField::name:
        function.name = cursor.string();
        break;
      case FunctionField::opcode:
        function.opcode = cursor.i64(-128, 255);
        break;
      case FunctionField::sub_opcode:
        function.sub_opcode = cursor.i64(-128, 255);
        break;
    }
  }
  if (!object.has(FunctionField::name)) cursor.fail("Failed to parse, key: name");
  if (!object.has(FunctionField::opcode)) cursor.fail("Failed to parse, key: opcode");
  return function;
}

enum class Field : std::uint8_t { cpu_id, functions, library, opcode, total_cpus, version };
constexpr KeyTable<Field, 6> fields = {{{"cpu_id", Field::cpu_id},
                                        {"functions", Field::functions},
                                        {"library", Field::library},
                                        {"opcode", Field::opcode},
                                        {"total_cpus", Field::total_cpus},
                                        {"ulib_to_ucode_version", Field::version}}};
using Object = ObjectReader<Field, fields.size()>;

struct LibraryText {
  UcodeLibrary parsed;
  std::string version;
  std::int64_t opcode = 0;
};

void read_field(JsonCursor& cursor, Field field, LibraryText& text) {
  UcodeLibrary& library = text.parsed;
  switch (field) {
    case Field::cpu_id:
      library.cpu_id = cursor.u32();
      break;
    case Field::functions:
      cursor.begin_array();
      while (cursor.next_element()) library.functions.push_back(read_function(cursor));
      break;
    case Field::library:
      library.name = cursor.string();
      break;
    case Field::opcode:
      text.opcode = cursor.i64(-128, 255);
      break;
    case Field::total_cpus:
      library.total_cpus = cursor.u32();
      break;
    case Field::version:
      text.version = cursor.string();
      break;
  }
}

bool version_matches(const std::string& version) {
  const std::string_view major = std::string_view(version).substr(0, version.find('.'));
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(major.data(), major.data() + major.size(), value);
  return error == std::errc() && end == major.data() + major.size() && value == abi_major;
}

/// In the order of spec 02 section 8.3; the first failure is the one reported.
void check_library(JsonCursor& cursor, const Object& object, const Subgraph& subgraph,
                   const LibraryText& text) {
  const UcodeLibrary& library = text.parsed;
  const std::string name = printable(library.name);
  if (!object.has(Field::library)) cursor.fail("Failed to parse, key: library");
  if (!object.has(Field::version)) cursor.fail("Missing GPSIMD lib version!");
  if (!version_matches(text.version)) {
    cursor.fail(fmt::format("Mismatch between GPSIMD lib version and NRT version! found {}, "
                            "expected {}.x",
                            printable(text.version), abi_major),
                ".ulib_to_ucode_version");
  }
  if (library.total_cpus != 0 && library.total_cpus != 1 && library.total_cpus != 8) {
    cursor.fail(fmt::format("UCode Library {} has invalid number of total cpus {}, allowed are 0, "
                            "1 and 8",
                            name, library.total_cpus),
                ".total_cpus");
  }
  if (!object.has(Field::opcode)) cursor.fail("Failed to parse, key: opcode");
  if (library.cpu_id != 0) {
    cursor.fail(fmt::format("found {}, expected cpu_id == 0", library.cpu_id), ".cpu_id");
  }
  const auto& known = subgraph.kbin.ucode_libraries;
  if (std::any_of(known.begin(), known.end(),
                  [&](const UcodeLibrary& other) { return other.name == library.name; })) {
    cursor.fail(fmt::format("UCode Library {} has already been added", name),
                path_step("library"));
  }
}

UcodeLibrary read_library(JsonCursor& cursor, const Subgraph& subgraph) {
  LibraryText text;
  Object object(cursor, fields);
  for (Field field{}; object.next(field);) read_field(cursor, field, text);
  check_library(cursor, object, subgraph, text);
  if (!cursor.ok()) return {};
  const Member* member = subgraph.find(text.parsed.name);
  if (member == nullptr) {
    cursor.fail(fmt::format("the member \"{}\" is not in the archive",
                            printable(subgraph.path_of(text.parsed.name))),
                path_step("library"));
    return {};
  }
  text.parsed.content = member->bytes;
  const bool builtin = text.opcode == builtin_opcode || text.opcode == builtin_opcode + 256;
  text.parsed.flags = builtin ? 0 : user_flags;
  return std::move(text.parsed);
}

}  // namespace

void read_ucode_libraries(JsonCursor& cursor, Subgraph& subgraph) {
  cursor.begin_array();
  while (cursor.next_element()) {
    UcodeLibrary library = read_library(cursor, subgraph);
    if (!cursor.ok()) return;
    subgraph.kbin.ucode_libraries.push_back(std::move(library));
  }
  // The kbin has them by name (spec 02 section 9).
  std::sort(subgraph.kbin.ucode_libraries.begin(), subgraph.kbin.ucode_libraries.end(),
            [](const UcodeLibrary& a, const UcodeLibrary& b) { return a.name < b.name; });
}

Result<void> load_ucode_file(Subgraph& subgraph, const std::string& file) {
  const Member* member = subgraph.find(file);
  if (member == nullptr) {
    return invalid(
        subgraph.at("$.ucode_lib"),
        fmt::format("the member \"{}\" is not in the archive", printable(subgraph.path_of(file))));
  }
  JsonCursor cursor(member->name, member->bytes, subgraph.options.json_depth);
  read_ucode_libraries(cursor, subgraph);
  return cursor.finish();
}

}  // namespace neffld
