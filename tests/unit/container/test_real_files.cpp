// SPDX-License-Identifier: MIT
// Real compiler outputs, if the folder NEFFLD_NEFFS names some. What is expected of each comes from
// the README next to them, never from here.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

struct Row {
  std::string file;
  std::uint64_t bytes = 0, members = 0;
  std::string hash_form;
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) {
    const auto first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
    out.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return out;
}

/// The identity table: file, arch, build, bytes, members, "ok, <form>", sha256.
std::vector<Row> expected_rows(const std::string& folder) {
  std::vector<Row> rows;
  std::ifstream readme(folder + "/README.md");
  for (std::string line; std::getline(readme, line);) {
    const auto row = cells(line);
    if (row.size() < 7 || !row[6].starts_with("ok, ")) continue;
    rows.push_back({row[1], std::stoull(row[4]), std::stoull(row[5]), row[6].substr(4)});
  }
  return rows;
}

const char* real_folder() {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) WARN("skipped: NEFFLD_NEFFS names no folder with real NEFF files");
  return folder;
}

}  // namespace

TEST_CASE("real files parse with their members, and their hashes match in the form noted") {
  const char* folder = real_folder();
  if (folder == nullptr) return;
  const auto rows = expected_rows(folder);
  REQUIRE_FALSE(rows.empty());
  for (const Row& row : rows) {
    INFO(row.file);
    const auto file = read_file(std::string(folder) + "/" + row.file + ".neff");
    REQUIRE(file);
    CHECK(file->size() == row.bytes);
    ContainerOptions options;
    options.verify_hash = true;
    const auto parsed = parse_container(*file, options);
    if (!parsed) FAIL(to_sentence(parsed.error()));
    CHECK(parsed->members().size() == row.members);
    CHECK(hash_form_name(parsed->facts().hash_form) == row.hash_form);
    CHECK(parsed->facts().warnings.empty());
    CHECK(parsed->facts().padding_bytes + parsed->facts().gzip_bytes ==
          parsed->facts().stored_bytes);
    CHECK(parsed->find("neff.json") != nullptr);
  }
}

TEST_CASE("real files survive unpacking and packing member by member") {
  const char* folder = real_folder();
  if (folder == nullptr) return;
  const ScratchFolder scratch;
  for (const auto& item : std::filesystem::directory_iterator(folder)) {
    if (item.path().extension() != ".neff" || item.file_size() > 500'000) continue;
    INFO(item.path());
    const auto file = read_file(item.path());
    REQUIRE(file);
    const auto parsed = parse_container(*file);
    REQUIRE(parsed);
    const std::string out = scratch.path(item.path().stem().string());
    REQUIRE(unpack_neff(*parsed, out));
    const auto members = read_folder(out);
    REQUIRE(members);
    const Buffer again = pack(*members);
    const auto reparsed = parse_container(again);
    REQUIRE(reparsed);
    REQUIRE(reparsed->members().size() == parsed->members().size());
    for (std::size_t i = 0; i < members->size(); ++i) {
      CHECK(reparsed->members()[i].name == parsed->members()[i].name);
      CHECK(std::ranges::equal(reparsed->members()[i].bytes, parsed->members()[i].bytes));
    }
  }
}

TEST_CASE("none of 500 bit flips in a real file changes a member unnoticed") {
  const char* folder = real_folder();
  if (folder == nullptr) return;
  const auto rows = expected_rows(folder);
  const auto smallest = std::ranges::min_element(rows, {}, &Row::bytes);
  REQUIRE(smallest != rows.end());
  auto file = read_file(std::string(folder) + "/" + smallest->file + ".neff");
  REQUIRE(file);
  const std::size_t end = 1024 + parse_container(*file)->facts().gzip_bytes;
  const FlipCount counted = flip_bits(*file, 1034, end, 500, false);
  CHECK(counted.wrong == 0);
  CHECK(counted.refused > 450);
  CHECK(flip_bits(*file, 1034, end, 500, true).refused == 500);
}
