// SPDX-License-Identifier: MIT
// relocate() reads as the list of builders in the order their sections were planned.
#include "neffld/relocate.hpp"

#include <fmt/format.h>

#include <array>

#include "builders.hpp"

namespace neffld {
namespace {

using Emit = Result<void> (*)(const EmitContext&);

/// Weights need no relocation: they go from the container to the device as they are.
constexpr std::array<Emit, 1> variables_first = {emit_variables};
/// The per-core build in the order of spec 04 section 2.2.
constexpr std::array<Emit, 8> core_builders = {
    emit_constant_block,  // the words every signal is copied from
    emit_pointers,        // cells and tables hold addresses of variables
    emit_imcpy_rings,     // descriptors that name places in their own rings
    emit_act_tables,     emit_dve_tables,
    emit_microcode,      // libraries, and the table that says where they are
    emit_instructions,   // var-ids and queue names become addresses
    emit_static_rings};  // blocks become descriptors

Result<void> run_one(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses,
                     Ledger& ledger, const SectionSink& sink, std::uint32_t kbin_index,
                     std::span<const Emit> builders) {
  const EmitContext context{kbins, plan,      arch_table(plan.arch), addresses, ledger, ledger,
                            sink,  kbin_index};
  for (const Emit emit : builders) NEFFLD_TRY(emit(context));
  return {};
}

Result<void> run(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses,
                 Ledger& ledger, const SectionSink& sink, std::span<const Emit> builders) {
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    NEFFLD_TRY(run_one(kbins, plan, addresses, ledger, sink, i, builders));
  }
  return {};
}

/// Descriptors keep tags in these bits, so no pointer may reach them (spec 05 B3, B5).
constexpr std::uint64_t first_tag = 1ull << 61;

/// Every input and output must have an address a descriptor can hold: an unresolved template on the
/// device would be a pointer to nowhere (spec 05 B7).
Result<void> check_bound(const Kbin& kbin, const Addresses& addresses) {
  for (const Variable& variable : kbin.variables) {
    if (variable.kind != VarKind::input && variable.kind != VarKind::output) continue;
    const Where where{.member = kbin.name, .path = variable.name};
    const auto bound = addresses.io.find(variable.name);
    if (bound == addresses.io.end()) {
      return fail(Status::invalid, ErrorClass::usage, where,
                  fmt::format("Failed to find tensor {} in tensor set", variable.name));
    }
    if (bound->second >= first_tag || variable.size > first_tag - bound->second) {
      return fail(Status::invalid, ErrorClass::usage, where,
                  fmt::format("address 0x{:x} and size {} reach bits 61 to 63 of a pointer, "
                              "expected them below 0x{:x}",
                              bound->second, variable.size, first_tag));
    }
  }
  return {};
}

}  // namespace

Result<void> relocate(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses,
                      Ledger& ledger, const SectionSink& sink) {
  return guarded([&]() -> Result<void> {
    NEFFLD_TRY(run(kbins, plan, addresses, ledger, sink, variables_first));
    return run(kbins, plan, addresses, ledger, sink, core_builders);
  });
}

Result<void> relocate_kbin(std::span<const Kbin> kbins, const Plan& plan,
                           const Addresses& addresses, Ledger& ledger, const SectionSink& sink,
                           std::uint32_t kbin_index) {
  return guarded([&]() -> Result<void> {
    NEFFLD_TRY(run_one(kbins, plan, addresses, ledger, sink, kbin_index, variables_first));
    return run_one(kbins, plan, addresses, ledger, sink, kbin_index, core_builders);
  });
}

Result<void> relocate_bound(std::span<const Kbin> kbins, const Plan& plan,
                            const Addresses& addresses, Ledger& ledger, const SectionSink& sink) {
  return guarded([&]() -> Result<void> {
    for (const Kbin& kbin : kbins) NEFFLD_TRY(check_bound(kbin, addresses));
    return run(kbins, plan, addresses, ledger, sink, std::array<Emit, 1>{emit_bound_rings});
  });
}

Result<void> relocate_pointers(std::span<const Kbin> kbins, const Plan& plan,
                               const Addresses& addresses, Ledger& ledger,
                               const SectionSink& sink) {
  return guarded([&]() -> Result<void> {
    Ledger recorded;
    for (std::uint32_t i = 0; i < kbins.size(); ++i) {
      const EmitContext context{kbins, plan, arch_table(plan.arch), addresses, ledger, recorded,
                                sink,  i};
      NEFFLD_TRY(emit_pointers(context));
    }
    return {};
  });
}

}  // namespace neffld
