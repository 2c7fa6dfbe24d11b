// SPDX-License-Identifier: MIT
// What PlanOptions::packet_bytes may be when it is not 0 (spec 04 sections 4 and 5): from the
// original's default, which can only be raised, to what the hardware's field holds.
#pragma once

#include <cstdint>

namespace neffld {

inline constexpr std::uint64_t least_packet_bytes = 4096, most_packet_bytes = 0xFFFFF;

}  // namespace neffld
