// SPDX-License-Identifier: MIT
// What the readers of one subgraph share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "manifest/json_cursor.hpp"
#include "manifest/member_source.hpp"
#include "neffld/kbin.hpp"

namespace neffld {

/// One subgraph under construction.
struct Subgraph {
  const MemberSource& source;
  const BuildOptions& options;
  const ArchTable& arch;
  std::string def_member;  ///< "sg00/def.json"
  Kbin kbin;

  /// Full member name of a file that a JSON document of this subgraph names.
  std::string path_of(std::string_view file) const { return in_folder(kbin.dir, file); }
  const Member* find(std::string_view file) const { return source(path_of(file)); }

  /// A place in def.json.
  Where at(std::string path) const {
    return {def_member, std::move(path), std::nullopt, std::nullopt};
  }
};

/// Bytes of a partition that DMA may touch (decision 11).
inline std::uint64_t partition_limit(const ArchTable& arch, const Kbin& kbin) {
  const bool reserved = !kbin.carveouts.empty() && arch.sbuf_reserved_offset != 0;
  return reserved ? arch.sbuf_reserved_offset : arch.sbuf_partition_bytes;
}

/// Reads the member that the next string of `cursor` names; an absent one is an error.
Bytes read_file_value(JsonCursor& cursor, const Subgraph& subgraph);

/// Reads `fabric_path`: true for "alt", false for "main" (spec 02 section 16.7).
bool read_fabric_path(JsonCursor& cursor);

/// Reads a semaphore number: one a core has and that is not the runtime's (decision 39).
std::uint32_t read_semaphore(JsonCursor& cursor);

std::vector<std::uint32_t> read_u32_array(JsonCursor& cursor);

}  // namespace neffld
