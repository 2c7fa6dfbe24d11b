// SPDX-License-Identifier: MIT
// Where the time of a load goes on this machine, and ratios that should not depend on the machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/session.hpp"

namespace neffld::bench {

enum class RatioId : std::uint8_t {
  inflate,
  json,
  parse,
  integrity,
  weight_copies,
  peak_memory,
  debug_members,
  relocation,
  parallel,
  staging,
  reload,
  device_calls,
};

/// A ratio of two measurements of one run on one machine.
struct Target {
  RatioId id;
  std::string_view name;  ///< in JSON, tables and the baseline
  bool more_is_better;
  double value;              ///< at least, or at most
  std::string_view meaning;  ///< what is divided by what
  bool counted = false;      ///< bytes copied or calls, which mean the same in a file of any size
  bool reached(double found) const { return more_is_better ? found >= value : found <= value; }
};

std::span<const Target> targets();
const Target& target_of(RatioId id);

struct Options {
  unsigned rounds = 5;      ///< of everything; each figure is the best one
  bool load = true;         ///< false: parse, build and plan only, no device
  bool ratios = true;       ///< false: the table of stages only
  std::uint32_t cores = 0;  ///< threads that load at the same time, 0 = the processors
  ParseOptions parse;       ///< limits
  LoadOptions loading;      ///< core and limits
};

/// One stage of a load.
struct Row {
  std::string name;
  double seconds = 0;
  std::uint64_t bytes = 0;   ///< it goes through, 0 = not a matter of bytes
  std::uint64_t items = 0;   ///< 0 = not a matter of items
  std::string item;          ///< "slot", "variable"
  std::uint64_t faults = 0;  ///< minor page faults
};

struct Ratio {
  RatioId id = RatioId::inflate;
  double value = 0;
};

/// Sizes of what was loaded.
struct Sizes {
  std::uint64_t file_bytes = 0, inflated_bytes = 0, json_bytes = 0, weight_bytes = 0;
  std::uint64_t subgraphs = 0, variables = 0, slots = 0, elements = 0, ring_descriptors = 0;
  std::uint64_t patches = 0;
};

struct FileReport {
  std::string file;
  unsigned rounds = 0;
  Sizes sizes;
  std::vector<Row> rows;
  std::vector<Ratio> ratios;
  std::vector<std::string> notes;  ///< ratios that do not exist for this file, and why
};

/// Below this many inflated bytes, ratios of times and of resident memory are those of calls,
/// threads and first pages, and say nothing about what a target is about.
inline constexpr std::uint64_t least_inflated_bytes = 1 << 20;
/// Whether the file is too small to say that it reaches or misses a target.
bool too_small(const Target& target, const Sizes& sizes);

/// Measures one file. The two sides of a ratio are measured in turn, round by round. The device is
/// the simulated one. Errors: those of reading and loading the file.
Result<FileReport> bench_file(const std::string& path, const Options& options);

}  // namespace neffld::bench
