// SPDX-License-Identifier: MIT
// GPSIMD libraries: their memory, the function table, limits, sharing (spec 02 section 8.3, 04
// section 2.3, docs/choices.md).
#include <fmt/format.h>

#include "builders.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

struct Library {
  std::string name;
  std::size_t bytes = 0;
  std::vector<UcodeFunction> functions;
  std::uint32_t total_cpus = 8;
};

/// A program with these libraries, whose bytes it owns.
struct LibraryRig {
  explicit LibraryRig(std::vector<Library> libraries, Arch arch = Arch::v2) : program(arch) {
    for (Library& library : libraries) {
      auto bytes = std::make_unique<std::vector<std::uint8_t>>(library.bytes);
      for (std::size_t i = 0; i < bytes->size(); ++i) {
        (*bytes)[i] = static_cast<std::uint8_t>(i + contents.size() + 1);
      }
      program.edit().ucode_libraries.push_back({std::move(library.name), *bytes, 6, 0,
                                                library.total_cpus, std::move(library.functions)});
      contents.push_back(std::move(bytes));
    }
  }
  Result<Plan> plan(const PlanOptions& options = {}) {
    return plan_model(std::span(&program.kbin(), 1), options);
  }
  Program program;
  std::vector<std::unique_ptr<std::vector<std::uint8_t>>> contents;
};

std::vector<UcodeFunction> functions(std::size_t count, std::string stem = "f") {
  std::vector<UcodeFunction> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back({fmt::format("{}{}", stem, i), 0xF0, {}});
  return made;
}

/// Requests of both sections; the test fails if they are not there.
struct Requests {
  explicit Requests(const Plan& plan)
      : libraries(request_of(plan, "ucode libraries")), table(request_of(plan, "ucode table")) {}
  std::uint32_t libraries, table;
};

TEST_CASE("libraries lie at multiples of 64 in one allocation, the table behind it") {
  LibraryRig rig({{"a", 1, {}}, {"b", 65, {}}, {"c", 64, {}}, {"d", 3, {}}});
  const auto plan = rig.plan();
  REQUIRE(plan);
  const Requests at(*plan);
  CHECK(at.table == at.libraries + 1);
  for (const std::uint32_t request : {at.libraries, at.table}) {
    CHECK(plan->requests[request].align == 64);
    CHECK(plan->requests[request].usage == MemUsage::code);
    CHECK(plan->requests[request].category == MemCategory::code);
    CHECK_FALSE(plan->requests[request].shared);
  }
  CHECK(plan->requests[at.libraries].size == 64 + 128 + 64 + 3);
  CHECK(plan->requests[at.table].size == 97 * 280 + 8 * 8);
  CHECK(plan->kbins[0].warnings ==
        std::vector<std::string>{
            "sg00: the table of GPSIMD functions has zeros for the queue registers of custom-op "
            "rings: the queue allocation table they come from is not known"});
  const Relocated result =
      relocated(std::span(&rig.program.kbin(), 1), *plan, made_up_addresses(*plan));
  std::vector<std::uint8_t> expected(259);
  const std::size_t starts[] = {0, 64, 192, 256};
  for (std::size_t i = 0; i < 4; ++i) {
    std::copy(rig.contents[i]->begin(), rig.contents[i]->end(),
              expected.begin() + static_cast<std::ptrdiff_t>(starts[i]));
  }
  CHECK(result.sections.at(at.libraries) == expected);
  const auto& table = result.sections.at(at.table);
  CHECK(std::count(table.begin(), table.end(), 0) == 97 * 280 + 64);
}

TEST_CASE(
    "an entry of the function table names function, opcodes, CPUs and the library's address") {
  LibraryRig rig({{"a", 100, {{"first", -16, 3}, {"second", 240, {}}}, 1},
                  {"b", 10, {{std::string(64, 'n'), -123, -1}}, 0}});
  const auto plan = rig.plan();
  REQUIRE(plan);
  const Requests at(*plan);
  const Addresses addresses = made_up_addresses(*plan);
  const Relocated result = relocated(std::span(&rig.program.kbin(), 1), *plan, addresses);
  const Bytes table = result.sections.at(at.table);
  struct Row {
    std::string name;
    int opcode, sub_opcode;
    std::uint32_t cpus;
    std::uint64_t offset;
  };
  const Row rows[] = {{"first", 0xF0, 3, 1, 0},
                      {"second", 0xF0, 0, 1, 0},
                      {std::string(64, 'n'), 0x85, 0xFF, 0, 128}};
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::uint8_t> entry(280);
    std::copy(rows[i].name.begin(), rows[i].name.end(), entry.begin());
    entry[256] = static_cast<std::uint8_t>(rows[i].opcode);
    entry[257] = static_cast<std::uint8_t>(rows[i].sub_opcode);
    store_le(MutableBytes(entry), 264, rows[i].cpus);
    store_le(MutableBytes(entry), 272, addresses.sections[at.libraries] + rows[i].offset);
    CHECK(to_hex(table.subspan(280 * i, 280)) == to_hex(entry));
  }
  CHECK(std::all_of(table.begin() + 3 * 280, table.end(), [](auto byte) { return byte == 0; }));
  std::vector<LedgerRow> patched;
  for (const LedgerRow& row : result.rows) {
    if (row.form == RelocForm::library_address) patched.push_back(row);
  }
  REQUIRE(patched.size() == 3);
  CHECK(patched[2].request == at.table);
  CHECK(patched[2].offset == 2 * 280 + 272);
  CHECK(patched[2].width == 8);
  CHECK(patched[2].symbol.kind == Symbol::Kind::section);
  CHECK(patched[2].symbol.index == at.libraries);
  CHECK(patched[2].symbol.addend == 128);
  CHECK(patched[2].source.kind == SourceRecord::Kind::library);
  CHECK(patched[2].source.index == 1);
}

TEST_CASE("libraries have limits, each refused with what was found") {
  const auto refused = [](std::vector<Library> libraries, std::string text,
                          Status status = Status::invalid) {
    INFO(text);
    LibraryRig rig(std::move(libraries));
    check_refused(rig.plan(), {"sg00", "ucode_lib", std::nullopt, text, status});
  };
  const auto some = [](std::size_t count, std::size_t of_each) {
    std::vector<Library> libraries;
    for (std::size_t i = 0; i < count; ++i) {
      libraries.push_back({fmt::format("l{}", i), 8, functions(of_each)});
    }
    return libraries;
  };
  CHECK(LibraryRig(some(9, 10)).plan());
  refused(some(10, 0), "Exceeded max number of GPSIMD libs: found 10, expected at most 9",
          Status::failure);
  auto many = some(4, 24);
  many[3].functions = functions(25);
  CHECK(LibraryRig(many).plan());  // 97
  many[0].functions = functions(25);
  refused(many, "found 98 functions in all libraries, expected at most 97");
  CHECK(LibraryRig({{"a", 1, functions(28)}}).plan());
  refused({{"a", 1, functions(29)}}, "UCode Library a has 29 functions, expected at most 28");
  refused({{"a", 1, {{std::string(65, 'n'), 1, {}}}}},
          "UCode Library a has a function whose name has 65 bytes, expected at most 64");
  refused({{"a", 0, {}}}, "UCode Library a is empty, expected at least 1 byte");
}

TEST_CASE("a library that is alone belongs to the core and is staged once") {
  LibraryRig rig({{"a", 100, functions(3)}});
  const auto first = rig.plan();
  REQUIRE(first);
  const Requests at(*first);
  CHECK(first->requests[at.libraries].shared);
  CHECK(first->requests[at.table].shared);
  const auto& set = first->kbins[0].libraries;
  REQUIRE(set);
  REQUIRE(set->shared);

  PlanOptions options;
  options.cores = {CoreState{true, 0, 0, false, {LibraryId{}, *set->shared}}};
  const auto later = rig.plan(options);
  REQUIRE(later);
  CHECK(std::none_of(later->requests.begin(), later->requests.end(), [](const Request& request) {
    return request.kind == SectionKind::ucode_libraries || request.kind == SectionKind::ucode_table;
  }));
  CHECK(later->kbins[0].libraries->shared == set->shared);
  CHECK(later->kbins[0].warnings.empty());
  // Relocation leaves what another model has staged alone.
  const Relocated result =
      relocated(std::span(&rig.program.kbin(), 1), *later, made_up_addresses(*later));
  CHECK(result.counts.count_of(0, RelocForm::library_address) == 0);
}

TEST_CASE("two libraries are one only if all that is staged of them is equal") {
  const auto id = [](UcodeLibrary library) { return library_id(library); };
  const std::vector<std::uint8_t> content = {1, 2, 3}, other = {1, 2, 4};
  const UcodeLibrary library{"a", content, 6, 0, 8, {{"f", 240, 3}, {"g", 1, {}}}};
  CHECK(id(library) == id(library));
  UcodeLibrary same = library;
  same.functions[0].opcode = -16;  // the same byte
  same.functions[1].sub_opcode = 0;
  CHECK(id(same) == id(library));
  std::vector<UcodeLibrary> different(7, library);
  different[0].name = "b";
  different[1].content = other;
  different[2].flags = 0;
  different[3].total_cpus = 1;
  different[4].functions.pop_back();
  different[5].functions[1].opcode = 2;
  different[6].functions[0] = {"fg", 240, 3};
  for (std::size_t i = 0; i < different.size(); ++i) {
    INFO(i);
    CHECK(id(different[i]) != id(library));
  }
}

TEST_CASE("v3 stages no libraries, and says so") {
  LibraryRig rig({{"a", 100, functions(3)}, {"b", 0, functions(99)}}, Arch::v3);
  const auto plan = rig.plan();
  REQUIRE(plan);
  CHECK_FALSE(plan->kbins[0].libraries);
  CHECK(plan->kbins[0].warnings ==
        std::vector<std::string>{
            "sg00: 2 GPSIMD libraries are not staged: no source says that v3 has any"});
}

}  // namespace
}  // namespace neffld::test
