// SPDX-License-Identifier: MIT
// The version the library reports: the level of the API it implements, and its own.
#pragma once

#include <string>

namespace neffld::nrt {

inline constexpr const char* runtime_version = "2.31.24.0";

/// "open loader 0.1.0".
std::string open_version_text();
/// The library file's build id as 40 hexadecimal digits, empty if it has none.
std::string build_id();

}  // namespace neffld::nrt
