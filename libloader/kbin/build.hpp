// SPDX-License-Identifier: MIT
#pragma once

#include "manifest/member_source.hpp"
#include "neffld/kbin.hpp"

namespace neffld {

/// build_kbins over any source of members.
Result<std::vector<Kbin>> build_kbins_from(const MemberSource& source, const Manifest& manifest,
                                           const BuildOptions& options);

}  // namespace neffld
