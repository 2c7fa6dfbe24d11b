// SPDX-License-Identifier: MIT
#include "neffld/arch.hpp"

#include "arch_tables.hpp"

namespace neffld {

std::string_view engine_name(Engine engine) {
  constexpr std::array<std::string_view, engine_count> names = {"pe", "act", "pool", "dve", "sp"};
  return names[static_cast<std::size_t>(engine)];
}

std::string_view arch_name(Arch arch) {
  switch (arch) {
    case Arch::any:
      return "any";
    case Arch::v2:
      return "v2";
    case Arch::v3:
      return "v3";
    case Arch::v4:
      return "v4";
  }
  return "unknown";
}

const ArchTable& arch_table(Arch arch) {
  switch (arch) {
    case Arch::v2:
      return arch_table_v2;
    case Arch::v4:
      return arch_table_v4;
    case Arch::v3:
    case Arch::any:
      break;
  }
  return arch_table_v3;
}

std::uint32_t hbm_of(const ArchTable& table, std::uint64_t address) {
  for (std::uint32_t hbm = 0; hbm < table.hbm_count; ++hbm) {
    const std::uint64_t base = table.hbm_base[hbm];
    if (address >= base && address - base < table.hbm_size) return hbm;
  }
  return table.hbm_count;
}

}  // namespace neffld
