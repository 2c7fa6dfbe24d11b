// SPDX-License-Identifier: MIT
// The two exclusion lists: what a kind of device does not have, and what is known to fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/error.hpp"

namespace neffld::cts {

/// Lines "device-kind row-name reason"; '#' begins a comment line.
class ExclusionList {
 public:
  /// `name` is used in errors. Errors: a line without three parts, an unknown kind or row, a row
  /// named twice (class format).
  static Result<ExclusionList> parse(std::string_view text, const std::string& name);
  static Result<ExclusionList> read(const std::string& file);

  /// The reason, if the row is listed for the kind of device.
  std::optional<std::string> find(std::string_view kind, std::string_view row) const;

 private:
  struct Entry {
    std::string kind, row, reason;
  };
  std::vector<Entry> entries_;
};

/// The lists of this version, tests/cts/unsupported.txt and expected-failure.txt.
std::string_view built_in_unsupported();
std::string_view built_in_expected_failure();

}  // namespace neffld::cts
