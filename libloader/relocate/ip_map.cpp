// SPDX-License-Identifier: MIT
// Device IP to NEFF IP (spec 05 A8).
#include <fmt/format.h>

#include <algorithm>

#include "image.hpp"
#include "isa/record.hpp"

namespace neffld {

Result<std::uint64_t> neff_ip(const IpMap& map, std::uint64_t byte_offset) {
  if (byte_offset < map.main_offset || byte_offset - map.main_offset >= map.main_bytes) {
    return invalid(
        {}, fmt::format("device ip 0x{:x} is out of bounds of the main buffer", byte_offset));
  }
  const std::uint64_t ip = byte_offset - map.main_offset;
  std::uint64_t number = 1, at = 0;
  for (const IpRow& row : map.rows) {
    if (row.section != IpSection::main) continue;
    if (row.offset > ip || (row.offset == ip && row.change != IpChange::remove)) break;
    number += (row.offset - at) / isa::slot_bytes;
    at = row.offset;
    switch (row.change) {
      case IpChange::insert:
        at += isa::slot_bytes * std::uint64_t{row.count};
        if (at >= ip) return number;  // inside the expansion
        break;
      case IpChange::remove:
        number += row.count;
        break;
      case IpChange::modify:
        ++number;
        at += isa::slot_bytes;
        break;
    }
  }
  return number + (ip - at) / isa::slot_bytes;
}

Result<IpMap> build_ip_map(std::span<const Kbin> kbins, const Plan& plan, std::uint32_t kbin_index,
                           Engine engine) {
  return guarded([&]() -> Result<IpMap> {
    // The map depends on slot counts only, so any addresses serve.
    Addresses zero;
    zero.sections.resize(plan.requests.size());
    for (const KbinPlan& kbin : plan.kbins) {
      for (const Placement& placement : kbin.variables) {
        if (placement.kind != Placement::Kind::page) continue;
        auto& pages = zero.scratchpad_pages[placement.core];
        pages.resize(std::max<std::size_t>(pages.size(), placement.request + 1));
      }
    }
    IpMap map;
    Ledger ledger;
    const ImageInput input{kbins[kbin_index], plan.kbins[kbin_index], arch_table(plan.arch), zero,
                           kbin_index};
    NEFFLD_TRY(assemble_image(input, engine, ledger, &map));
    return map;
  });
}

}  // namespace neffld
