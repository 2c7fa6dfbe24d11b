// SPDX-License-Identifier: MIT
// relocate() reads as the list of builders in the order their sections were planned.
#include "neffld/relocate.hpp"

#include "builders.hpp"

namespace neffld {
namespace {

using Emit = Result<void> (*)(const EmitContext&);

Result<void> run(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses,
                 Ledger& ledger, const SectionSink& sink, std::initializer_list<Emit> builders) {
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    const EmitContext context{kbins, plan, arch_table(plan.arch), addresses, ledger, sink, i};
    for (const Emit emit : builders) NEFFLD_TRY(emit(context));
  }
  return {};
}

}  // namespace

Result<void> relocate(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses,
                      Ledger& ledger, const SectionSink& sink) {
  return guarded([&]() -> Result<void> {
    // Weights need no relocation: they go from the container to the device as they are.
    NEFFLD_TRY(run(kbins, plan, addresses, ledger, sink, {emit_variables}));
    return run(kbins, plan, addresses, ledger, sink,
               {emit_constant_block,  // the words every signal is copied from
                emit_pointers,        // cells and tables hold addresses of variables
                emit_act_tables, emit_dve_tables,
                emit_instructions,    // var-ids and queue names become addresses
                emit_static_rings});  // blocks become descriptors
  });
}

Result<void> relocate_bound(std::span<const Kbin> kbins, const Plan& plan,
                            const Addresses& addresses, Ledger& ledger, const SectionSink& sink) {
  return guarded([&]() -> Result<void> {
    // Cells and tables are in the ledger since relocate(); they are only written again.
    Ledger known;
    NEFFLD_TRY(run(kbins, plan, addresses, known, sink, {emit_pointers}));
    return run(kbins, plan, addresses, ledger, sink, {emit_bound_rings});
  });
}

}  // namespace neffld
