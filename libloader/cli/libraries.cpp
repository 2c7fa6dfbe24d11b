// SPDX-License-Identifier: MIT
#include "libraries.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace neffld::cli {

namespace fs = std::filesystem;

Result<std::string> library_folder(const std::string& in_build, const std::string& name) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const std::array<fs::path, 2> places = {here / in_build, here / NEFFLD_LIBRARY_FROM_BIN};
  for (const fs::path& place : places) {
    if (fs::exists(place / name, error)) return fs::canonical(place, error).string();
  }
  return fail(
      Status::failure, ErrorClass::file, {.path = name},
      fmt::format("not found in {} or {}; scripts/build build makes it",
                  places[0].lexically_normal().string(), places[1].lexically_normal().string()));
}

}  // namespace neffld::cli
