// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "neffld/bytes.hpp"

namespace neffld::fuzz {

/// A file that has a path but no name: it lies in memory and goes away with the object.
class ScratchFile {
 public:
  explicit ScratchFile(Bytes content = {});
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }
  /// Bytes at an offset; what lies between was never written and reads as zeros.
  void put(std::uint64_t offset, Bytes content);

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace neffld::fuzz
