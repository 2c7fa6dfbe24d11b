// SPDX-License-Identifier: MIT
#include "pax_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "member_name.hpp"
#include "utf8_name.hpp"

namespace neffld {
namespace {

/// Readers refuse longer ones.
constexpr std::uint64_t most_record_bytes = 999'999;

Where in_pax_header(std::uint64_t offset) {
  return Where{"", "pax header", std::nullopt, offset};
}

tl::unexpected<Error> malformed(std::uint64_t offset, std::string_view rest) {
  return invalid(in_pax_header(offset),
                 fmt::format("malformed record '{}', expected 'LENGTH KEY=VALUE'",
                             printable_name(rest.substr(0, 40))));
}

/// All of `text` as a decimal number below 2^63.
std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return value;
}

struct Record {
  std::string_view key, value;
};

/// Takes the first record off `rest`.
std::optional<Record> take_record(std::string_view& rest) {
  const auto space = rest.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto length = decimal(rest.substr(0, space));
  // The shortest record is "5 k=\n" long behind its own length and the space.
  if (!length || *length > std::min<std::uint64_t>(rest.size(), most_record_bytes) ||
      *length < space + 3 || rest[*length - 1] != '\n') {
    return std::nullopt;
  }
  const std::string_view text = rest.substr(space + 1, *length - space - 2);
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  if (text.substr(0, equals).find('\0') != std::string_view::npos) return std::nullopt;
  rest.remove_prefix(*length);
  return Record{text.substr(0, equals), text.substr(equals + 1)};
}

bool means_sparse(std::string_view key) {
  return key.starts_with("GNU.sparse") || key == "SCHILY.realsize" || key == "SUN.holesdata";
}

/// Values in the header's character set.
bool is_text(std::string_view key) {
  return key == "path" || key == "linkpath" || key == "uname" || key == "gname";
}

/// UTF-8, or any bytes if the header says so (POSIX pax, "hdrcharset"). The records of a header
/// come in any order, so that what is wrong counts only at its end.
class Charset {
 public:
  void take(const Record& record) {
    if (record.key == "hdrcharset" && record.value == "BINARY") binary_ = true;
    if (record.key == "hdrcharset" && record.value == "ISO-IR 10646 2000 UTF-8") binary_ = false;
    if (!is_text(record.key) || problem_) return;
    problem_ = utf8_problem(record.value);
    // Only the name decides anything.
    if (!problem_ && record.key == "path") problem_ = joining_problem(record.value);
    if (problem_) *problem_ = fmt::format("record '{}' {}", record.key, *problem_);
  }
  Result<void> check(std::uint64_t offset) const {
    if (binary_ || !problem_) return {};
    return invalid(in_pax_header(offset), *problem_);
  }

 private:
  bool binary_ = false;
  std::optional<std::string> problem_;
};

Result<void> take(PaxRecords& found, const Record& record, std::uint64_t offset) {
  if (means_sparse(record.key)) {
    return invalid(in_pax_header(offset),
                   fmt::format("record '{}' makes the next entry a sparse file, which is not "
                               "allowed in a NEFF",
                               printable_name(record.key)));
  }
  const bool c_string = is_text(record.key) || record.key == "hdrcharset";
  if (c_string && record.value.find('\0') != std::string_view::npos) {
    return invalid(in_pax_header(offset), fmt::format("record '{}' holds a NUL", record.key));
  }
  if (record.key == "path") {
    if (found.path) return invalid(in_pax_header(offset), "two path records for one entry");
    // An empty value takes the record back (POSIX pax, "Extended Header").
    if (!record.value.empty()) found.path = std::string(record.value);
  }
  // Here an empty value is no number: readers take it for 0.
  if (record.key == "size") {
    if (found.size) return invalid(in_pax_header(offset), "two size records for one entry");
    found.size = decimal(record.value);
    if (!found.size) {
      return invalid(in_pax_header(offset),
                     fmt::format("size record '{}' is not a decimal number below 2^63",
                                 printable_name(record.value)));
    }
  }
  return {};
}

}  // namespace

Result<PaxRecords> parse_pax_records(Bytes body, std::uint64_t offset) {
  PaxRecords found;
  Charset charset;
  std::string_view rest = as_text(body);
  while (!rest.empty()) {
    const auto record = take_record(rest);
    if (!record) return malformed(offset, rest);
    NEFFLD_TRY(take(found, *record, offset));
    charset.take(*record);
  }
  NEFFLD_TRY(charset.check(offset));
  return found;
}

}  // namespace neffld
