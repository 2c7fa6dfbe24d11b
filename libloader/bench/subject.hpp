// SPDX-License-Identifier: MIT
// The file under measurement, taken apart once.
#pragma once

#include <string>
#include <vector>

#include "neffld/bench.hpp"

namespace neffld::bench {

struct Subject {
  std::string path;
  const Options& options;
  std::vector<std::uint8_t> file;
  ParsedModel parsed;  ///< from Stage::build on

  /// Reads and parses, without the header hash.
  static Result<Subject> open(const std::string& path, const Options& options);
  Bytes payload() const;
  const Container& container() const { return *parsed.container; }
  /// The JSON members a load reads.
  std::vector<const Member*> json_members() const;
};

/// Appends a row if the measurement was made.
class Best;
void add_row(FileReport& report, std::string name, const Best& best, std::uint64_t bytes = 0,
             std::uint64_t items = 0, std::string item = {});
void add_ratio(FileReport& report, RatioId id, double above, double below);

}  // namespace neffld::bench
