// SPDX-License-Identifier: MIT
// Real files, when present: every one builds, and the counts are those of its description.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "neffld/kbin.hpp"

using namespace neffld;

namespace {

struct FileRow {
  std::map<std::string, std::uint64_t> vars;  ///< by the short names of the table
  std::map<std::string, std::uint64_t> queue_sets;
  std::uint64_t blocks = 0, descriptors = 0, constants = 0, scratch = 0;
  std::vector<std::vector<std::uint64_t>> slots;  ///< one list per subgraph
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// "sb 1 in 3" -> counts; remarks in parentheses are dropped.
std::map<std::string, std::uint64_t> counts(const std::string& text) {
  std::map<std::string, std::uint64_t> result;
  std::istringstream stream(text.substr(0, text.find('(')));
  std::string name;
  for (std::uint64_t count = 0; stream >> name >> count;) result[name] = count;
  return result;
}

/// The rows of the last table whose header names "descs".
std::map<std::string, FileRow> read_table(const std::filesystem::path& readme) {
  std::map<std::string, FileRow> rows;
  std::ifstream file(readme);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find("| descs |") != std::string::npos) inside = true;
    if (!inside || line.size() < 3 || line[2] < '0' || line[2] > '9') continue;
    const std::vector<std::string> cells = split(line, '|');
    REQUIRE(cells.size() >= 12);
    FileRow row;
    row.vars = counts(cells[2]);
    row.queue_sets = counts(cells[3]);
    row.blocks = std::stoull(cells[4]);
    row.descriptors = std::stoull(cells[5]);
    for (const std::string& group : split(cells[9], ';')) {
      auto& slots = row.slots.emplace_back();
      for (const std::string& number : split(group, '/')) slots.push_back(std::stoull(number));
    }
    row.constants = std::stoull(cells[10]);
    row.scratch = std::stoull(cells[11]);
    rows[cells[1].substr(1, 2)] = std::move(row);
  }
  return rows;
}

std::string short_name(VarKind kind) {
  switch (kind) {
    case VarKind::state_buffer:
      return "sb";
    case VarKind::input:
      return "in";
    case VarKind::output:
      return "out";
    case VarKind::virtual_buf:
      return "virt";
    case VarKind::dge_table:
      return "tab";
    default:
      return std::string(var_kind_name(kind));
  }
}

FileRow measure(const std::vector<Kbin>& kbins) {
  FileRow row;
  for (const Kbin& kbin : kbins) {
    for (const Variable& variable : kbin.variables) {
      ++row.vars[short_name(variable.kind)];
      if (variable.kind == VarKind::file) row.constants += variable.payload.size();
    }
    for (const QueueSet& set : kbin.queue_sets) ++row.queue_sets[set.type];
    row.blocks += kbin.blocks.size();
    row.descriptors += kbin.descriptors.size();
    row.scratch += kbin.local_scratchpad_size;
    auto& slots = row.slots.emplace_back();
    for (const Engine engine : all_engines) slots.push_back(kbin.engine(engine).slot_count());
  }
  return row;
}

/// The table has each distinct group of slots once if the subgraphs are equal, else one each.
void check(const FileRow& found, const FileRow& expected) {
  CHECK(found.vars == expected.vars);
  CHECK(found.queue_sets == expected.queue_sets);
  CHECK(found.blocks == expected.blocks);
  CHECK(found.descriptors == expected.descriptors);
  CHECK(found.constants == expected.constants);
  CHECK(found.scratch == expected.scratch);
  CHECK(found.slots == expected.slots);
}

}  // namespace

TEST_CASE("every real file builds the kbins its description counts") {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) {
    WARN("skipped: NEFFLD_NEFFS is not set, no real file is built");
    return;
  }
  const auto rows = read_table(std::filesystem::path(folder) / "README.md");
  REQUIRE_FALSE(rows.empty());
  std::size_t built = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".neff") continue;
    INFO(entry.path().filename().string());
    const auto file = read_file(entry.path().string());
    REQUIRE(file);
    const auto container = parse_container(*file);
    REQUIRE(container);
    auto manifest = read_manifest(*container);
    if (!manifest) FAIL(to_sentence(manifest.error()));
    REQUIRE(check_arch(*manifest, manifest->arch, false));
    const auto kbins = build_kbins(*container, *manifest);
    if (!kbins) FAIL(to_sentence(kbins.error()));
    const auto row = rows.find(entry.path().filename().string().substr(0, 2));
    REQUIRE(row != rows.end());
    check(measure(*kbins), row->second);
    for (const Kbin& kbin : *kbins) {
      // Names and sizes join the graph's inputs and outputs with the variables.
      for (const auto& [name, info] : manifest->inputs) {
        REQUIRE(kbin.find_variable(name) != nullptr);
        CHECK(kbin.find_variable(name)->size == info.size);
      }
    }
    ++built;
  }
  CHECK(built == rows.size());
}
