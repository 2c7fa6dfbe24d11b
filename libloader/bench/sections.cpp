// SPDX-License-Identifier: MIT
#include "sections.hpp"

#include <algorithm>
#include <unordered_map>

namespace neffld::bench {

Result<std::vector<Section>> relocated_sections(const LoadedModel& model) {
  std::vector<Section> sections;
  std::unordered_map<std::uint32_t, std::vector<Patch>> patches;
  std::uint32_t kbin = 0;
  Ledger ledger([&](const LedgerRow& row) {
    patches[row.request].push_back(
        {row.new_value, static_cast<std::uint32_t>(row.offset), row.width, row.form});
  });
  const SectionSink keep = [&](const SectionContent& content) -> Result<void> {
    Section& section = sections.emplace_back();
    section.request = content.request;
    section.kbin = kbin;
    section.descriptors = content.descriptors;
    section.bytes = content.bytes;
    if (model.plan.requests[content.request].kind == SectionKind::variable) return {};
    section.own.emplace(content.bytes.size());
    std::copy(content.bytes.begin(), content.bytes.end(), section.own->bytes().begin());
    section.bytes = section.own->bytes();
    return {};
  };
  for (; kbin < model.parsed.kbins.size(); ++kbin) {
    NEFFLD_TRY(relocate_kbin(model.parsed.kbins, model.plan, model.addresses, ledger, keep, kbin));
  }
  for (Section& section : sections) section.patches = std::move(patches[section.request]);
  return sections;
}

}  // namespace neffld::bench
