// SPDX-License-Identifier: MIT
// Wrapping a tar into one gzip member (spec 01 section 8.2 step 3).
#pragma once

#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// Stored deflate blocks: the same bytes on every machine and with every library version.
std::vector<std::uint8_t> gzip_stored(Bytes tar);

/// Level-1 deflate without a time stamp, as public compilers write it.
Result<std::vector<std::uint8_t>> gzip_deflate(Bytes tar);

}  // namespace neffld
