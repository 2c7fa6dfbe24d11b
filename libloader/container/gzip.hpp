// SPDX-License-Identifier: MIT
// The one gzip member of a payload: header, inflate, trailer, padding (spec 01 section 5.1).
#pragma once

#include "arena.hpp"

namespace neffld {

/// True if the payload starts with the gzip magic; anything else is a plain tar (spec 01 s5.1).
bool is_gzip(Bytes payload);

struct Inflated {
  Arena arena;
  std::uint64_t size = 0;           ///< bytes of `arena` in use
  std::uint64_t gzip_bytes = 0;     ///< length of the gzip member
  std::uint64_t padding_bytes = 0;  ///< zero bytes behind it
};

/// Inflates the payload's gzip member into a new arena and verifies its CRC-32, its length and
/// that only zeros follow. Errors: status invalid, with the payload offset; status resource when
/// more than `limit` bytes come out or memory is short.
Result<Inflated> inflate_payload(Bytes payload, std::uint64_t limit);

}  // namespace neffld
