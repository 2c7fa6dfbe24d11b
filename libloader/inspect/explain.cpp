// SPDX-License-Identifier: MIT
#include "neffld/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neffld/disassembler.hpp"
#include "neffld/session.hpp"
#include "neffld/text.hpp"
#include "section_records.hpp"

namespace neffld {
namespace {

constexpr std::size_t kept_references = 8;
std::string ring_text(const Layout& layout, const Layout::Section& section, std::uint64_t number) {
  if (section.subgraph >= layout.subgraphs.size()) return {};
  const Layout::Subgraph& subgraph = layout.subgraphs[section.subgraph];
  const bool model_ring =
      section.kind == SectionKind::ring_tx || section.kind == SectionKind::ring_rx;
  if (!model_ring || section.index >= subgraph.rings.size()) return {};
  const Layout::Ring& ring = subgraph.rings[section.index];
  return fmt::format("{} of {} used, queue {} instance {} ring {} {}: ",
                     number < ring.used ? "one" : "behind the end", ring.used,
                     one_line(subgraph.queues[ring.queue].name), ring.instance, ring.k,
                     section.kind == SectionKind::ring_rx ? "rx" : "tx");
}

}  // namespace

Result<Explanation> explain_address(const Locator& locator, const DeviceMemoryView& memory,
                                    std::uint64_t address) {
  return guarded([&]() -> Result<Explanation> {
    const Layout& layout = locator.layout();
    Explanation out;
    out.address = address;
    out.place = locator.locate(address);
    out.what = locator.text(out.place);
    for (const Place& variable : locator.variables_at(address)) {
      std::string text = locator.text(variable);
      if (text != out.what) out.also.push_back(std::move(text));
    }
    if (out.place.kind != Place::Kind::section) return out;
    const Layout::Section& section = layout.sections[out.place.index];
    const RecordKind kind = record_kind(section.kind);
    const std::uint64_t size = record_size(kind);
    const std::uint64_t start = out.place.offset / size * size;
    ExplainedRecord record;
    record.kind = record_kind_name(kind);
    record.address = section.pa + start;
    record.number = out.place.offset / size;
    record.bytes.resize(std::min(size, section.size - start));
    NEFFLD_TRY(memory.read(record.address, record.bytes));
    // A record cut off by the end of its section is shown as bytes.
    record.text = record.bytes.size() == size
                      ? ring_text(layout, section, record.number) +
                            record_text(kind, record.bytes, locator, section.subgraph)
                      : record_hex(record.bytes);
    if (kind == RecordKind::instruction && section.subgraph < layout.subgraphs.size() &&
        section.index < engine_count) {
      record.source_slot =
          source_slot(layout.subgraphs[section.subgraph].streams[section.index], record.number);
    }
    out.record = std::move(record);
    return out;
  });
}

Result<void> explain_patches(const LoadedModel& model, std::vector<Explanation>& explanations) {
  return guarded([&]() -> Result<void> {
    Ledger ledger([&](const LedgerRow& row) {
      for (Explanation& e : explanations) {
        if (row.width == sizeof e.address && row.new_value == e.address) {
          if (e.references.size() < kept_references) e.references.push_back(row);
          ++e.reference_count;
        }
        if (!e.record || e.place.kind != Place::Kind::section || e.place.index != row.request) {
          continue;
        }
        const std::uint64_t first = e.record->address - model.addresses.sections[row.request];
        if (row.offset < first + e.record->bytes.size() && row.offset + row.width > first) {
          e.patches.push_back(row);
        }
      }
    });
    const SectionSink no_contents = [](const SectionContent&) { return Result<void>(); };
    NEFFLD_TRY(relocate(model.parsed.kbins, model.plan, model.addresses, ledger, no_contents));
    if (!model.bound) return {};
    return relocate_bound(model.parsed.kbins, model.plan, model.addresses, ledger, no_contents);
  });
}

}  // namespace neffld
