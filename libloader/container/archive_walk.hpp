// SPDX-License-Identifier: MIT
// The walk over the tar archive inside a payload (spec 01 section 5.3).
#pragma once

#include <deque>

#include "neffld/container.hpp"

namespace neffld {

/// The member table. Names are owned here, bytes are views into the walked tar.
struct MemberTable {
  std::deque<std::string> names;
  std::vector<Member> members;  ///< byte-wise ascending by name
};

/// Lists the members of `tar`; fills dialect, skipped members and warnings of `facts`. Copies no
/// member. Errors name the member and the offset in the tar.
Result<MemberTable> walk_archive(Bytes tar, const ContainerLimits& limits, ContainerFacts& facts);

}  // namespace neffld
