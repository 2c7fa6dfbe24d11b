// SPDX-License-Identifier: MIT
// A strict reading of tar header blocks (spec 01 section 5.2, 09 decision 26). Other readers
// forgive what must not be forgiven in a loader: a size that is no number reads as 0, text behind a
// NUL in a name is dropped, a missing header ends the archive in silence. This one refuses them by
// name, and whatever two readers would understand differently.
#pragma once

#include <optional>
#include <string>

#include "neffld/container.hpp"

namespace neffld {

inline constexpr std::uint64_t tar_block_bytes = 512;

enum class TarVariant : std::uint8_t { v7, ustar, gnu, pax };
std::string_view tar_variant_name(TarVariant variant);

/// One archive entry: its extension headers and its own header.
struct TarEntry {
  std::string name;  ///< as stored, "./" still there
  bool directory = false;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;  ///< of the first extension header, if there are any
  std::uint64_t data_offset = 0;
  std::uint64_t next_offset = 0;  ///< first byte behind the padded body
  TarVariant variant = TarVariant::v7;
};

/// Reads the entry at `offset`, which is not the end of the archive. Errors: status invalid for
/// damaged headers, entries other than regular files and directories, and sizes that do not fit;
/// status resource for limits. They name the entry and the tar offset.
Result<TarEntry> read_tar_entry(Bytes tar, std::uint64_t offset, const ContainerLimits& limits);

/// True if the archive ends at `offset`: two zero blocks, or plain end of data (then with a line in
/// `warnings`). Errors: status invalid if anything but zeros follows the end, or if the last block
/// is cut off.
Result<bool> tar_ends_at(Bytes tar, std::uint64_t offset, std::vector<std::string>& warnings);

}  // namespace neffld
