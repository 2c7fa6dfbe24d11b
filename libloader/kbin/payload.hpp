// SPDX-License-Identifier: MIT
// Payload of a `file` variable (spec 02 section 5.3).
#pragma once

#include <string_view>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// The bytes to copy to the device: the whole member, or what follows the header of a .npy member.
/// The npy dtype and shape are not read: real files write bfloat16 as "<V2".
Result<Bytes> payload_of(std::string_view member, Bytes bytes);

}  // namespace neffld
