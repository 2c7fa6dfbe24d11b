// SPDX-License-Identifier: MIT
// fault_sweep [--host] [--at-most N] FILE|SAMPLE|samples...: loads each with every fault at every
// point, or about N points of each load. Prints a line a file; exit code 1 if something is wrong.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "host_memory.hpp"
#include "sample_catalogue.hpp"
#include "sweep.hpp"

namespace {

using namespace neffld;
using namespace neffld::test;

struct Options {
  bool host = false;
  std::uint64_t at_most = 0;
  std::vector<std::string> names;
};

/// Not the benchmark's sample, nor the one that nobody can load.
void add_samples(std::vector<std::string>& names) {
  for (const auto& entry : sample::catalogue()) {
    if (entry.name != "scale" && entry.name != "refused-v3") names.emplace_back(entry.name);
  }
}

bool read_words(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--host") {
      options.host = true;
    } else if (word == "--at-most" && i + 1 < count) {
      const std::string_view number = words[++i];
      if (std::from_chars(number.begin(), number.end(), options.at_most).ec != std::errc()) {
        return false;
      }
    } else if (word == "samples") {
      add_samples(options.names);
    } else {
      options.names.emplace_back(word);
    }
  }
  return !options.names.empty();
}

Result<std::vector<std::uint8_t>> bytes_of(const std::string& name) {
  return name.ends_with(".neff") ? read_file(name) : sample::pack(sample::make_sample(name));
}

Result<SweepResult> sweep(const std::string& name, const Options& options) {
  NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes, bytes_of(name));
  if (options.host) return sweep_host(bytes, options.at_most);
  NEFFLD_ASSIGN(const ParsedModel model, parse_model(bytes, Arch::any));
  return sweep_device(model, options.at_most);
}

/// True if nothing was wrong.
bool tell(const std::string& name, const Options& options) {
  const std::clock_t start = std::clock();
  const auto result = sweep(name, options);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const std::string shown = name.substr(name.rfind('/') + 1);
  if (!result) {
    fmt::print("{:<34} {}\n", shown, to_sentence(result.error()));
    return false;
  }
  fmt::print("{:<34} {:>7} {}, {:>7} faults, {:>7.1f} s of processor, {} failures\n", shown,
             result->points, options.host ? "allocations" : "calls", result->faults, seconds,
             result->failures.size());
  for (const std::string& failure : result->failures) fmt::print("  {}\n", failure);
  std::fflush(stdout);
  return result->failures.empty();
}

}  // namespace

int main(int count, char** words) {
  constexpr int skipped = 77;
  try {
    Options options;
    if (!read_words(count, words, options)) {
      fmt::print(stderr, "usage: fault_sweep [--host] [--at-most N] FILE.neff|SAMPLE|samples...\n");
      return 2;
    }
    if (options.host && !host_memory_is_watched()) {
      fmt::print("SKIPPED: a sanitizer owns malloc() in this build\n");
      return skipped;
    }
    bool good = true;
    for (const std::string& name : options.names) good = tell(name, options) && good;
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "fault_sweep: {}\n", error.what());
    return 1;
  }
}
