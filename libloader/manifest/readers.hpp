// SPDX-License-Identifier: MIT
// The parts of read_manifest, one per document.
#pragma once

#include "manifest/member_source.hpp"
#include "neffld/manifest.hpp"

namespace neffld {

/// neff.json: fills `inputs`, `outputs` and `kelf_member` (spec 01 section 7.1).
Result<void> read_neff_json(const Member& member, std::uint32_t json_depth, Manifest& manifest);

/// The KELF descriptor: fills version, target, arch and graphs (spec 02 section 2).
Result<void> read_kelf(const Member& member, std::uint32_t json_depth, Manifest& manifest);

/// hlo_stats.json: fills the MAC count (spec 01 section 7.5).
Result<void> read_hlo_stats(const Member& member, std::uint32_t json_depth, Manifest& manifest);

/// read_manifest over any source of members.
Result<Manifest> read_manifest_from(const MemberSource& source,
                                    std::uint32_t json_depth = default_json_depth);

}  // namespace neffld
