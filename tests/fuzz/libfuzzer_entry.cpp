// SPDX-License-Identifier: MIT
// One target under libFuzzer. `PROGRAM --write FOLDER` writes its seeds into FOLDER/seeds and its
// words into FOLDER/words in the form of libFuzzer's dictionaries; `--most-bytes` prints the
// longest input worth trying.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "budget.hpp"

using namespace neffld;
using namespace neffld::fuzz;

namespace {

const Target& target() {
  static const Target& found = *find_target(FUZZ_TARGET);
  return found;
}

void write(const std::filesystem::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  promise(static_cast<bool>(file), "a file can be written", path.string());
}

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "seeds");
  int number = 0;
  for (const Input& seed : target().seeds()) {
    write(folder / "seeds" / fmt::format("seed-{:03}", number++), as_text(seed));
  }
  std::string words;
  for (const std::string& word : target().words()) {
    words += '"';
    for (const char c : word) words += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    words += "\"\n";
  }
  write(folder / "words", words);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  const std::string_view option = *count > 1 ? (*words)[1] : "";
  if (option == "--write" && *count == 3) {
    write_seeds((*words)[2]);
    std::exit(0);
  }
  if (option == "--most-bytes") {
    fmt::print("{}\n", target().most_bytes);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool warm = [] {  // what is made once does not count for the first input
    for (const Input& seed : target().seeds()) {
      target().run(seed);
      break;
    }
    return true;
  }();
  static_cast<void>(warm);
  run_timed(target(), {data, size});
  return 0;
}
