// SPDX-License-Identifier: MIT
// The cores of the real files in a folder.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "neffld/container.hpp"
#include "neffld/kbin.hpp"

namespace neffld::compute::test {

/// Calls `check` with the cores of every real file in `folder`, as a load builds them.
template <class Check>
void for_each_real_file(const std::string& folder, Check check) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".neff") continue;
    INFO(entry.path().filename().string());
    const auto file = read_file(entry.path().string());
    REQUIRE(file);
    const auto container = parse_container(*file);
    REQUIRE(container);
    auto manifest = read_manifest(*container);
    REQUIRE(manifest);
    REQUIRE(check_arch(*manifest, manifest->arch, false));
    const auto kbins = build_kbins(*container, *manifest);
    REQUIRE(kbins);
    check(*kbins);
  }
}

}  // namespace neffld::compute::test
