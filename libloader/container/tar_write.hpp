// SPDX-License-Identifier: MIT
// Writing a tar archive in one of three dialects (spec 01 sections 8.2 and 9.2).
#pragma once

#include "neffld/container.hpp"

namespace neffld {

/// Everything that precedes a member's bytes: extension headers where the dialect needs them and
/// the member's own header. `name` has been validated; a directory's name ends in '/'. Errors:
/// status invalid for a name or size the dialect cannot express.
Result<std::vector<std::uint8_t>> tar_headers(std::string_view name, std::uint64_t size,
                                              bool directory, TarDialect dialect,
                                              const TarOwner& owner);

/// The whole archive with its two zero blocks, padded to records of 10240 bytes on request.
Result<std::vector<std::uint8_t>> write_tar(std::span<const PackMember> members, TarDialect dialect,
                                            const TarOwner& owner, bool pad_to_record);

}  // namespace neffld
