// SPDX-License-Identifier: MIT
// The header hash over the stored payload (spec 01 section 3, spec 08 section 1.2, decision 2).
#pragma once

#include <array>

#include "neffld/container.hpp"

namespace neffld {

/// The 32 bytes of the header's `hash` field: SHA-256 for package 1; MD5 and `tail` for package 2.
/// `word_swapped` reverses each 4-byte group of the digest.
std::array<std::uint8_t, 32> payload_hash(Bytes payload, std::uint64_t pkg_version,
                                          bool word_swapped, std::uint8_t tail);

/// Compares the header's hash with the payload's, in both byte orders. Errors: status invalid for
/// an empty payload (the original asserts) and for a mismatch.
Result<HashForm> verify_payload_hash(const NeffHeader& header, Bytes payload);

}  // namespace neffld
