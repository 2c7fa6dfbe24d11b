// SPDX-License-Identifier: MIT
// Conformance: what the real driver answered, call by call. The recordings are not part of the
// project; NEFFLD_TRANSCRIPTS names their folder.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "replay.hpp"

using namespace devsim_test;

namespace {

struct Recording {
  std::uint32_t architecture = 3;
  std::vector<std::string> names;  ///< files that follow each other on one driver
  std::uint32_t devices = 1;
  std::uint32_t revision = 0;
  std::uint64_t hbm_bytes = 0;
  std::uint32_t cores = 0;
  std::uint32_t pci_device_id = 0;
};

void check(const Recording& recording) {
  const std::string label =
      "v" + std::to_string(recording.architecture) + "-" + recording.names.front();
  const char* folder = std::getenv("NEFFLD_TRANSCRIPTS");
  if (folder == nullptr) {
    std::cout << "skipped: NEFFLD_TRANSCRIPTS is not set (" << label << ")\n";
    return;
  }
  std::vector<std::string> files;
  for (const auto& name : recording.names) {
    files.push_back(std::string(folder) + "/v" + std::to_string(recording.architecture) + "-" +
                    name + ".jsonl");
  }
  auto config = Device::config_of(recording.architecture, recording.hbm_bytes);
  config.pci_domain = 1;
  config.revision = recording.revision;
  config.cores = recording.cores;
  config.pci_device_id = recording.pci_device_id;
  const auto result = replay(config, files, recording.devices);
  std::cout << label << ": " << result.lines << " lines, " << result.differences.size()
            << " differ";
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
    for (const char* name : {"alloc", "extra", "copy", "big", "dma", "ident", "sema", "nq", "proc",
                             "misc", "mmap", "mmapu"}) {
      check({architecture, {name}});
    }
    check({architecture, {"reuse1", "reuse2"}});
  }
}

TEST_CASE("recorded conversations with other device profiles are reproduced") {
  check({2, {"noreset"}});
  check({2, {"emu-1core"}, 1, NDS_REVISION_EMULATOR, 0, 1});
  check({2, {"emu-2cores"}, 1, NDS_REVISION_EMULATOR, 0, 2});
  check({2, {"qemu"}, 1, NDS_REVISION_QEMU});
  check({3, {"emu-2cores"}, 1, NDS_REVISION_EMULATOR, 0, 2});
  check({3, {"qemu-hbm1g", "qemu-hbm1g-scrub"}, 1, NDS_REVISION_QEMU, 1_GiB});
  check({3, {"qemu-hbm4g"}, 1, NDS_REVISION_QEMU, 4_GiB});
}

TEST_CASE("recorded conversations with several devices are reproduced") {
  check({2, {"trn1-16devices"}, 16});
  check({2, {"inf2-12devices"}, 12, 0, 0, 0, NDS_PCI_INF2});
  check({3, {"trn2-16devices"}, 16});
}
