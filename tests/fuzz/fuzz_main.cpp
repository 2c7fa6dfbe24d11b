// SPDX-License-Identifier: MIT
// fuzz corpus FOLDER [--mutations N] [TARGET...]: every target, or those named, over its seeds, the
// inputs of FOLDER/TARGET and N changed seeds. The same inputs each time.
// fuzz run TARGET FILE...: single inputs, such as libFuzzer leaves behind.
// Inputs whose names end in .hex are hexadecimal text with comments behind #.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "budget.hpp"
#include "mutator.hpp"
#include "neffld/container.hpp"

using namespace neffld;
using namespace neffld::fuzz;

namespace {

constexpr std::uint64_t seed = 20240607;

Input from_hex(std::string_view text, const std::string& path) {
  Input bytes;
  int digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '#') i = std::min(text.find('\n', i), text.size() - 1);
    if (text[i] == ' ' || text[i] == '\n') continue;
    unsigned value = 0;
    const auto read = std::from_chars(&text[i], &text[i] + 1, value, 16);
    promise(read.ec == std::errc(), "corpus files are hexadecimal", path);
    if (digits++ % 2 == 0)
      bytes.push_back(static_cast<std::uint8_t>(value << 4));
    else
      bytes.back() = static_cast<std::uint8_t>(bytes.back() | value);
  }
  promise(digits % 2 == 0, "corpus files have whole bytes", path);
  return bytes;
}

Input read_input(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) broken("an input can be read", to_sentence(bytes.error()));
  return path.ends_with(".hex") ? from_hex(as_text(*bytes), path) : std::move(*bytes);
}

std::vector<std::string> files_of(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  std::error_code absent;  // a target without findings has no folder
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void run_corpus(const Target& target, const std::string& folder, std::size_t mutations) {
  const std::vector<Input> seeds = target.seeds();
  const std::vector<std::string> words = target.words();
  const std::vector<std::string> files = files_of(std::filesystem::path(folder) / target.name);
  target.run(seeds[0]);  // what is made once does not count
  double all = 0, most = 0;
  const auto count = [&](const Input& input) {
    const double seconds = run_timed(target, input);
    all += seconds;
    most = std::max(most, seconds);
  };
  for (const Input& input : seeds) count(input);
  for (const std::string& path : files) count(read_input(path));
  Mutator mutator(seeds, words, target.most_bytes, seed);
  for (std::size_t i = 0; i < mutations; ++i) count(mutator.next());
  fmt::print("{:<20} {:4} seeds {:3} files {:5} mutations {:7.2f} s, slowest {:4.0f} ms\n",
             target.name, seeds.size(), files.size(), mutations, all, most * 1000);
  std::fflush(stdout);
}

int usage() {
  fmt::print(stderr,
             "usage: fuzz corpus FOLDER [--mutations N] [TARGET...]\n"
             "       fuzz run TARGET FILE...\ntargets:\n");
  for (const Target* target : all_targets()) {
    fmt::print(stderr, "  {:<20} {}\n", target->name, target->input);
  }
  return 2;
}

int corpus(const std::vector<std::string>& words) {
  std::size_t mutations = 0, next = 1;
  if (words.size() > 2 && words[1] == "--mutations") {
    const std::string& number = words[2];
    const auto read = std::from_chars(number.data(), number.data() + number.size(), mutations);
    if (read.ec != std::errc() || read.ptr != number.data() + number.size()) return usage();
    next = 3;
  }
  std::vector<const Target*> targets(all_targets().begin(), all_targets().end());
  if (words.size() > next) targets.clear();
  for (; next < words.size(); ++next) {
    targets.push_back(find_target(words[next]));
    if (!targets.back()) return usage();
  }
  promise(std::filesystem::is_directory(words[0]), "the corpus is a folder", words[0]);
  for (const Target* target : targets) run_corpus(*target, words[0], mutations);
  return 0;
}

int run(const std::vector<std::string>& words) {
  const Target* target = find_target(words[0]);
  if (!target || words.size() < 2) return usage();
  for (std::size_t i = 1; i < words.size(); ++i) {
    fmt::print("{}: {:.0f} ms\n", words[i], 1000 * run_timed(*target, read_input(words[i])));
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view command = count > 2 ? words[1] : "";
  const std::vector<std::string> rest(words + std::min(count, 2), words + count);
  if (command == "corpus") return corpus(rest);
  if (command == "run") return run(rest);
  return usage();
}
