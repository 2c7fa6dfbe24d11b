// SPDX-License-Identifier: MIT
// Can this loader, an architecture and a driver take a NEFF? Answered without any device
// (spec 01 s2 and s4, 06 s1, 09).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/session.hpp"

namespace neffld {

/// Runtime interface versions a driver accepts (COMPATIBLE_VERSION).
struct DriverRange {
  std::uint32_t min = 0, max = 0;
};

/// Reads "MIN..MAX" or one number: interface versions ("10..11"), or driver releases 2.24 to 2.30
/// ("2.24..2.27"), whose ranges depend on the architecture. Errors: class usage.
Result<DriverRange> parse_driver_range(std::string_view text, Arch arch);

struct CompatibilityOptions {
  Arch arch = Arch::any;  ///< asked for; any: the one the file names
  std::string driver;     ///< as parse_driver_range takes it; empty: not asked
  ParseOptions parse;
};

struct FeatureVerdict {
  unsigned bit = 0;
  std::string name;
  std::string_view state;  ///< "supported", "not supported" or "unknown"
};

/// Something that keeps the file from being loaded.
struct Problem {
  std::string member, text;
  std::optional<std::uint64_t> record;  ///< the first one
  std::uint64_t count = 1;              ///< records with the same problem
};

struct Compatibility {
  NeffHeader header = {};
  std::string target;                            ///< text of the file, empty if it was not reached
  Arch file_arch = Arch::any, arch = Arch::any;  ///< named by the file; checked for
  std::vector<FeatureVerdict> features;
  std::uint64_t records = 0;  ///< instruction records checked
  std::optional<DriverRange> driver;
  std::uint32_t needs_interface = 0;  ///< least runtime interface version; 0: not reached
  std::vector<Problem> problems;
  std::vector<std::string> notes;  ///< restrictions that do not stop a load on the simulated device
  bool compatible() const { return problems.empty(); }
};

/// Errors: files that break the format; a file that is only unsupported is an answer, not an error.
Result<Compatibility> check_compatibility(Bytes file, const CompatibilityOptions& options = {});

}  // namespace neffld
