// SPDX-License-Identifier: MIT
#include "support.hpp"

namespace neffld::fuzz {
namespace {

std::vector<Input> seeds() {
  std::vector<Input> files;
  for (const char* name : {"single-core-v3", "vecadd-v2", "libraries-v2", "dge-v3"}) {
    for (const Compression kind : {Compression::none, Compression::stored, Compression::deflate}) {
      files.push_back(sample_file(name, kind));
    }
  }
  return files;
}

std::vector<std::string> words() {
  return {"ustar", {"\x1f\x8b\x08", 3}, "neff.json", "sg00/def.json", std::string(16, '\0')};
}

}  // namespace

const Target raw_file = {"raw_file", "a whole NEFF", 256 << 10, load, seeds, words};

}  // namespace neffld::fuzz
