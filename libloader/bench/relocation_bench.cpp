// SPDX-License-Identifier: MIT
#include "relocation_bench.hpp"

#include "builders.hpp"
#include "neuron_abi/udma.h"

namespace neffld::bench {
namespace {

using Emit = Result<void> (*)(const EmitContext&);

/// Runs builders of every kbin; nobody takes what they make.
Result<void> emit_all(const LoadedModel& model, std::initializer_list<Emit> builders) {
  const SectionSink nobody = [](const SectionContent&) -> Result<void> { return {}; };
  Ledger ledger;
  for (std::uint32_t i = 0; i < model.parsed.kbins.size(); ++i) {
    const EmitContext context{model.parsed.kbins,
                              model.plan,
                              arch_table(model.plan.arch),
                              model.addresses,
                              ledger,
                              ledger,
                              nobody,
                              i};
    for (const Emit emit : builders) NEFFLD_TRY(emit(context));
  }
  return {};
}

Result<void> apply(Patcher& patcher, const Patch& patch) {
  switch (patch.width) {
    case 1:
      return patcher.patch(patch.offset, patch.form, static_cast<std::uint8_t>(patch.value), {},
                           {});
    case 4:
      return patcher.patch(patch.offset, patch.form, static_cast<std::uint32_t>(patch.value), {},
                           {});
    default:
      return patcher.patch(patch.offset, patch.form, patch.value, {}, {});
  }
}

/// All patches of the sections that hold descriptors, or of the others.
Result<void> apply_all(std::span<Section> sections, bool descriptors) {
  Ledger ledger;
  for (Section& section : sections) {
    if (!section.own || section.descriptors != descriptors) continue;
    Patcher patcher(section.own->bytes(), section.kbin, section.request, ledger);
    for (const Patch& patch : section.patches) NEFFLD_TRY(apply(patcher, patch));
  }
  return {};
}

std::uint64_t patches_in(std::span<const Section> sections, bool descriptors) {
  std::uint64_t patches = 0;
  for (const Section& section : sections) {
    if (section.descriptors == descriptors) patches += section.patches.size();
  }
  return patches;
}

}  // namespace

Result<void> RelocationBench::round() {
  NEFFLD_TRY(tables_.run([&] {
    return emit_all(model_, {emit_constant_block, emit_pointers, emit_act_tables, emit_dve_tables,
                             emit_microcode});
  }));
  NEFFLD_TRY(instructions_.run([&] { return emit_all(model_, {emit_instructions}); }));
  NEFFLD_TRY(rings_.run([&] { return emit_all(model_, {emit_imcpy_rings, emit_static_rings}); }));
  NEFFLD_TRY(patches_.run([&] { return apply_all(sections_, false); }));
  return pointers_.run([&] { return apply_all(sections_, true); });
}

void RelocationBench::report(FileReport& report) const {
  const Sizes& sizes = report.sizes;
  add_row(report, "tables and cells", tables_);
  add_row(report, "translate instructions", instructions_, 0, sizes.slots, "slot");
  add_row(report, "author rings", rings_, sizes.ring_descriptors * NEURON_UDMA_DESC_SIZE,
          sizes.ring_descriptors, "descriptor");
  add_row(report, "  pointers alone", pointers_, 0, patches_in(sections_, true), "pointer");
  add_row(report, "patches alone", patches_, 0, patches_in(sections_, false), "patch");
}

}  // namespace neffld::bench
