// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <algorithm>
#include <filesystem>

namespace neffld::test {

Staged::Staged(std::string_view sample) : bench(architecture_of(sample)) {
  model = &load(bench, sample);
  bind();
}

Staged::Staged(Bytes file, std::uint32_t architecture) : bench(architecture) {
  auto parsed = parse_model(file, Arch::any);
  if (!parsed) FAIL(to_sentence(parsed.error()));
  auto loaded = bench.session->load(std::move(*parsed));
  if (!loaded) FAIL(to_sentence(loaded.error()));
  model = *loaded;
  bind();
}

void Staged::bind() {
  auto io = free_io_addresses(*bench.session, *model);
  REQUIRE(io);
  const auto bound = bench.session->bind(*model, *io);
  if (!bound) FAIL(to_sentence(bound.error()));
  auto made = layout_of(*model);
  if (!made) FAIL(to_sentence(made.error()));
  layout = std::move(*made);
  memory = session_memory(*bench.session);
}

void Overlay::set(std::uint64_t address, std::vector<std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) bytes_[address++] = byte;
}

Result<void> Overlay::read(std::uint64_t address, MutableBytes out) const {
  NEFFLD_TRY(below_.read(address, out));
  for (auto i = bytes_.lower_bound(address); i != bytes_.end() && i->first - address < out.size();
       ++i) {
    out[i->first - address] = i->second;
  }
  return {};
}

std::vector<std::pair<std::string, std::vector<std::uint8_t>>> real_files() {
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> files;
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (!folder) {
    WARN("SKIPPED: real files (NEFFLD_NEFFS is not set)");
    return files;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".neff") continue;
    auto bytes = read_file(entry.path().string());
    REQUIRE(bytes);
    files.emplace_back(entry.path().filename().string(), std::move(*bytes));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::uint8_t> read_section(const DeviceMemoryView& memory,
                                       const Layout::Section& section) {
  std::vector<std::uint8_t> bytes(section.size);
  REQUIRE(memory.read(section.pa, bytes));
  return bytes;
}

}  // namespace neffld::test
