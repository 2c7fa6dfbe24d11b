// SPDX-License-Identifier: MIT
// The small all-reduce NEFF embedded in the original runtime library, rebuilt from the notes
// (spec 01 section 9): every member, the GNU tar, the gzip with one stored block, the header.
#pragma once

#include <vector>

#include "neffld/container.hpp"

namespace neffld::test {

/// The 18 members and the directory `sg00/`, in archive order.
std::vector<PackMember> fixture_members();

/// Everything in the fixture's header and tar headers, and the stored compression of s9.3.
PackOptions fixture_options();

/// The whole file, 21527 bytes. Aborts the test if it cannot be packed.
std::vector<std::uint8_t> fixture_neff();

}  // namespace neffld::test
