// SPDX-License-Identifier: MIT
// The records of a pax extension header that decide what an entry is (spec 01 section 5.2).
#pragma once

#include <optional>
#include <string>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

struct PaxRecords {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
};

/// Parses "LENGTH KEY=VALUE\n" records. `offset` is that of the extension header, for messages.
/// Errors: status invalid for malformed records, repeated path or size, sparse-file records, and
/// texts that readers decode differently: not UTF-8 where the header does not say
/// "hdrcharset=BINARY", or characters that some join.
Result<PaxRecords> parse_pax_records(Bytes body, std::uint64_t offset);

}  // namespace neffld
