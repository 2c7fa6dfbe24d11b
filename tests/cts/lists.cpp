// SPDX-License-Identifier: MIT
#include "lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cts_lists.hpp"
#include "row.hpp"

namespace neffld::cts {
namespace {

constexpr std::array<std::string_view, 6> kinds = {"sim:v2",    "sim:v3",    "module:v2",
                                                   "module:v3", "driver:v2", "driver:v3"};

tl::unexpected<Error> bad_line(const std::string& name, std::uint64_t line, std::string text) {
  return invalid({.member = name, .record = line}, std::move(text));
}

bool known_row(const std::string& name) {
  return std::any_of(rows().begin(), rows().end(),
                     [&](const Row& row) { return row.name == name; });
}

}  // namespace

Result<ExclusionList> ExclusionList::parse(std::string_view text, const std::string& name) {
  ExclusionList list;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::uint64_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    Entry entry;
    if (!(words >> entry.kind) || entry.kind.front() == '#') continue;
    words >> entry.row;
    std::getline(words >> std::ws, entry.reason);
    if (entry.reason.empty()) {
      return bad_line(name, number,
                      fmt::format("found '{}', expected a device kind, a row and a reason", line));
    }
    if (std::find(kinds.begin(), kinds.end(), entry.kind) == kinds.end()) {
      return bad_line(name, number,
                      fmt::format("found device kind '{}', expected one of {}", entry.kind,
                                  fmt::join(kinds, ", ")));
    }
    if (!known_row(entry.row)) {
      return bad_line(name, number,
                      fmt::format("found row '{}', expected a name that --list prints", entry.row));
    }
    if (list.find(entry.kind, entry.row)) {
      return bad_line(name, number,
                      fmt::format("row '{}' is listed twice for {}", entry.row, entry.kind));
    }
    list.entries_.push_back(std::move(entry));
  }
  return list;
}

Result<ExclusionList> ExclusionList::read(const std::string& file) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error);
  if (error) return fail(Status::failure, ErrorClass::file, {.member = file}, error.message());
  if (!std::filesystem::is_regular_file(kind)) {  // a device or a pipe may have no end
    return fail(Status::failure, ErrorClass::file, {.member = file},
                "is not a regular file, expected a text file");
  }
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) {
    return fail(Status::failure, ErrorClass::file, {.member = file},
                "the list cannot be read, expected a text file");
  }
  return parse(text, file);
}

std::optional<std::string> ExclusionList::find(std::string_view kind, std::string_view row) const {
  for (const Entry& entry : entries_) {
    if (entry.kind == kind && entry.row == row) return entry.reason;
  }
  return std::nullopt;
}

std::string_view built_in_unsupported() {
  return unsupported_text;
}
std::string_view built_in_expected_failure() {
  return expected_failure_text;
}

}  // namespace neffld::cts
