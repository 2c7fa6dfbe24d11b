// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace neffld::test {

/// A folder that goes away with the object and everything in it. Throws if it cannot be made.
class ScratchFolder {
 public:
  ScratchFolder() {
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), path_);
    }
  }
  ~ScratchFolder() {
    std::error_code ignored;  // a destructor has nobody to tell
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "neffld-test-XXXXXX").string();
};

}  // namespace neffld::test
