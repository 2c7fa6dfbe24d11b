// SPDX-License-Identifier: MIT
#include "neffld/manifest.hpp"

#include <fmt/format.h>

#include "manifest/json_cursor.hpp"
#include "manifest/printable.hpp"
#include "manifest/readers.hpp"

namespace neffld {
namespace {

enum class Stat : std::uint8_t { hlo_mac_count };
constexpr KeyTable<Stat, 1> stats = {{{"HloMacCount", Stat::hlo_mac_count}}};

}  // namespace

Result<void> read_hlo_stats(const Member& member, std::uint32_t json_depth, Manifest& manifest) {
  JsonCursor cursor(member.name, member.bytes, json_depth);
  ObjectReader object(cursor, stats);
  for (Stat stat{}; object.next(stat);) {
    // The numbers of this file are doubles in part (spec 08 section 2.8).
    const double count = cursor.number();
    constexpr double limit = 18446744073709551616.0;  // 2^64
    if (!(count >= 0 && count < limit)) {
      cursor.fail(fmt::format("found {}, expected a count of 64 bits", count));
    } else {
      manifest.mac_count = static_cast<std::uint64_t>(count);
    }
  }
  return cursor.finish();
}

Result<Manifest> read_manifest_from(const MemberSource& source, std::uint32_t json_depth) {
  const Member* neff = source("neff.json");
  if (neff == nullptr) neff = source("kelp.json");  // the legacy name of the same document
  if (neff == nullptr) {
    return invalid({"neff.json", "", std::nullopt, std::nullopt},
                   "Invalid NN: neff.json is missing, and so is its older name kelp.json");
  }
  Manifest manifest;
  NEFFLD_TRY(read_neff_json(*neff, json_depth, manifest));
  const Member* kelf = source(manifest.kelf_member);
  if (kelf == nullptr) {
    return invalid({std::string(neff->name), "$.nodes", std::nullopt, std::nullopt},
                   fmt::format("the KELF member \"{}\" is not in the archive",
                               printable(manifest.kelf_member)));
  }
  NEFFLD_TRY(read_kelf(*kelf, json_depth, manifest));
  if (const Member* hlo_stats = source("hlo_stats.json")) {
    NEFFLD_TRY(read_hlo_stats(*hlo_stats, json_depth, manifest));
  } else {
    manifest.warnings.emplace_back("Unable to find hlo_stats.json in the NEFF");
  }
  return manifest;
}

Result<Manifest> read_manifest(const Container& container, std::uint32_t json_depth) {
  return guarded([&] { return read_manifest_from(members_of(container), json_depth); });
}

Result<void> check_arch(Manifest& manifest, Arch device, bool allow_legacy) {
  const auto number = [](Arch arch) { return static_cast<std::uint32_t>(arch); };
  const Where where{manifest.kelf_member, "$.target", std::nullopt, std::nullopt};
  if (device == Arch::any) return invalid(where, "Invalid target = 0");
  if (manifest.arch == Arch::any) manifest.arch = device;
  if (manifest.arch == device) return {};
  const std::string versions =
      fmt::format("NEFF arch: v{}, instance arch: v{}", number(manifest.arch), number(device));
  if (!allow_legacy) {
    return unsupported(
        where, fmt::format("Loading a NEFF compiled for a different arch is not allowed, {}. "
                           "Please ensure that --target <correct_arch> is passed as a neuronx-cc "
                           "command line flag. To override, set NEURON_RT_ALLOW_LEGACY_NEFF=1 and "
                           "restart",
                           versions));
  }
  manifest.warnings.push_back(
      fmt::format("Loading a NEFF compiled for a different arch, {}", versions));
  return {};
}

}  // namespace neffld
