// SPDX-License-Identifier: MIT
// Reducing the content of one member.
#pragma once

#include "document.hpp"

namespace neffld {

/// Where the elements of a constant begin.
std::size_t elements_offset(const PackMember& member);

/// Zeros the elements of all constants together, if the error allows it.
void zero_arrays(Document& document);

/// Reduces a member in steps of down to a `most_parts`-th of what it has: fields and elements of
/// JSON, slots of streams, bytes of anything else; zeros take the place of weights and tables.
/// Returns if anything changed.
bool shrink_member(Document& document, std::size_t member, std::size_t most_parts,
                   bool keep_weights);

}  // namespace neffld
