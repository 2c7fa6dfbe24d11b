// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "neffld/text.hpp"

namespace neffld::cli {

/// "512 B", "1.5 KiB", "20.0 GiB".
std::string human_bytes(std::uint64_t bytes);

}  // namespace neffld::cli
