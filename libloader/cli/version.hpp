// SPDX-License-Identifier: MIT
#pragma once

namespace neffld::cli {

inline constexpr const char* version = NEFFLD_VERSION;  // set by the build from project()

}  // namespace neffld::cli
