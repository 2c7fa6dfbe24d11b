// SPDX-License-Identifier: MIT
// Conformance: what the real driver answered, call by call. The recordings are not part of the
// project; NEFFLD_TRANSCRIPTS names their folder.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "replay.hpp"

using namespace devsim_test;

namespace {

void check(std::uint32_t architecture, const std::vector<std::string>& names) {
  const char* folder = std::getenv("NEFFLD_TRANSCRIPTS");
  if (folder == nullptr) {
    std::cout << "skipped: NEFFLD_TRANSCRIPTS is not set (v" << architecture << " " << names.front()
              << ")\n";
    return;
  }
  std::vector<std::string> files;
  for (const auto& name : names) {
    files.push_back(std::string(folder) + "/v" + std::to_string(architecture) + "-" + name +
                    ".jsonl");
  }
  auto config = Device::config_of(architecture);
  config.pci_domain = 1;
  const auto result = replay(config, files);
  std::cout << "v" << architecture << " " << names.front() << ": " << result.lines << " lines, "
            << result.differences.size() << " differ";
  for (const auto& [reason, count] : result.skipped) {
    std::cout << "; skipped " << count << ": " << reason;
  }
  std::cout << "\n";
  CHECK(result.lines > 0);
  for (const auto& difference : result.differences) FAIL_CHECK(difference);
}

}  // namespace

TEST_CASE("recorded conversations are reproduced") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    check(architecture, {"alloc"});
    check(architecture, {"reuse1", "reuse2"});
    check(architecture, {"extra"});
    check(architecture, {"copy"});
    check(architecture, {"big"});
    check(architecture, {"dma"});
    check(architecture, {"ident"});
    check(architecture, {"sema"});
    check(architecture, {"nq"});
    check(architecture, {"proc"});
    check(architecture, {"misc"});
    check(architecture, {"mmap"});
    check(architecture, {"mmapu"});
  }
}
