// SPDX-License-Identifier: MIT
// Layout and ledger of two samples as text. After an intended change run
// scripts/regenerate-goldens and review the difference.
#include <fmt/format.h>
#include <openssl/sha.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support.hpp"

namespace neffld::test {
namespace {

constexpr std::size_t rows_shown = 4;  // of each form and kbin

std::string digest(Bytes bytes) {
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> sum{};
  SHA256(bytes.data(), bytes.size(), sum.data());
  return fmt::format("{:02x}", fmt::join(sum.begin(), sum.begin() + 8, ""));
}

std::string symbol_text(const Symbol& symbol) {
  switch (symbol.kind) {
    case Symbol::Kind::none:
      return "-";
    case Symbol::Kind::variable:
      return fmt::format("variable {} + 0x{:x}", symbol.index, symbol.addend);
    case Symbol::Kind::queue:
      return fmt::format("queue set {}", symbol.index);
    case Symbol::Kind::section:
      return fmt::format("section {} + 0x{:x}", symbol.index, symbol.addend);
    case Symbol::Kind::device_register:
      return "register";
  }
  return "?";
}

std::string source_text(const SourceRecord& source) {
  constexpr std::array names = {"-", "slot", "descriptor", "block", "variable"};
  if (source.kind == SourceRecord::Kind::none) return "-";
  return fmt::format("{} {}", names[static_cast<std::size_t>(source.kind)], source.index);
}

void append_layout(std::string& text, const Plan& plan, const Addresses& addresses,
                   const Relocated& load, const Relocated& bind) {
  for (std::uint32_t i = 0; i < plan.requests.size(); ++i) {
    const Request& request = plan.requests[i];
    std::string content = "-";
    if (const auto at_bind = bind.sections.find(i); at_bind != bind.sections.end()) {
      content = digest(at_bind->second);
    } else if (const auto at_load = load.sections.find(i); at_load != load.sections.end()) {
      content = digest(at_load->second);
    }
    text += fmt::format("{:3} core {} 0x{:010x} size {} align {} category {} {} {}\n", i,
                        request.core, addresses.sections[i], request.size, request.align,
                        static_cast<std::uint32_t>(request.category), content, request.owner);
  }
}

void append_ledger(std::string& text, const Relocated& result) {
  std::map<std::pair<std::uint32_t, RelocForm>, std::vector<std::string>> lines;
  for (const LedgerRow& row : result.rows) {
    lines[{row.kbin, row.form}].push_back(fmt::format(
        "  section {} + 0x{:x} width {}: 0x{:x} -> 0x{:x}, {}, from {}", row.request, row.offset,
        row.width, row.old_value, row.new_value, symbol_text(row.symbol), source_text(row.source)));
  }
  for (const auto& [key, rows] : lines) {
    const std::string all = fmt::format("{}", fmt::join(rows, "\n"));
    text += fmt::format("subgraph {} {}: {} rows, digest {}\n", key.first,
                        reloc_form_name(key.second), rows.size(), digest(as_bytes(all)));
    for (std::size_t i = 0; i < std::min(rows_shown, rows.size()); ++i) text += rows[i] + "\n";
  }
}

std::string describe(const std::string& name) {
  const SampleModel model = sample_model(name);
  const std::span<const Kbin> kbins = model.parsed.kbins;
  Plan plan = planned(kbins);
  Addresses addresses = made_up_addresses(plan);
  const Relocated load = relocated(kbins, plan, addresses);
  std::uint64_t next = 0x2'0000'0000;
  for (const Variable& variable : kbins[0].variables) {
    if (variable.kind != VarKind::input && variable.kind != VarKind::output) continue;
    addresses.io[variable.name] = next;
    next += 1 << 20;
  }
  const Relocated bind = relocated_bound(kbins, plan, addresses);
  std::string text = fmt::format("# {}: layout, then the ledger of load and of bind\n", name);
  text += "# section, core, address, size, alignment, driver category, content digest, owner\n";
  append_layout(text, plan, addresses, load, bind);
  text += "\n# load: every form with its first rows\n";
  append_ledger(text, load);
  text += "\n# bind\n";
  append_ledger(text, bind);
  return text;
}

void check_golden(const std::string& name) {
  const std::string path = std::string(NEFFLD_GOLDEN_DIR) + "/relocate-" + name + ".txt";
  const std::string now = describe(name);
  if (std::getenv("NEFFLD_REGENERATE_GOLDENS") != nullptr) {
    std::ofstream(path) << now;
    return;
  }
  std::ifstream file(path);
  REQUIRE(file);
  std::stringstream expected;
  expected << file.rdbuf();
  std::istringstream now_lines(now);
  std::string want, have;
  for (int line = 1; std::getline(expected, want); ++line) {
    INFO("tests/golden/relocate-" << name << ".txt line " << line);
    REQUIRE(std::getline(now_lines, have));
    REQUIRE(have == want);
  }
  CHECK_FALSE(std::getline(now_lines, have));
}

TEST_CASE("layout and ledger of vecadd-v3", "[golden]") {
  check_golden("vecadd-v3");
}

TEST_CASE("layout and ledger of dge-v3", "[golden]") {
  check_golden("dge-v3");
}

}  // namespace
}  // namespace neffld::test
