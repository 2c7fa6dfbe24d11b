// SPDX-License-Identifier: MIT
// Building containers byte by byte, also broken ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "neffld/container.hpp"
#include "scratch_folder.hpp"
#include "tar_block.hpp"

namespace neffld::test {

using Buffer = std::vector<std::uint8_t>;

Buffer bytes_of(std::string_view text);
PackMember member(std::string name, std::string_view content);

/// `size` bytes that deflate well but not to nothing, the same for the same seed.
Buffer patterned(std::size_t size, std::uint32_t seed);
/// Members with text, binary, empty and nested ones, byte-wise ascending.
std::vector<PackMember> sample_members();

/// Packs or fails the test.
Buffer pack(const std::vector<PackMember>& members, const PackOptions& options = {});

/// A tar of raw header blocks: each call appends one entry exactly as asked.
class RawTar {
 public:
  /// Changes a header block before its checksum is set.
  using Tweak = std::function<void(TarBlock&)>;

  RawTar& entry(std::string_view name, std::string_view body, char type = '0',
                const Tweak& tweak = {});
  /// A header block alone, with `size` in its size field.
  RawTar& header(std::string_view name, std::uint64_t size, char type, const Tweak& tweak = {});
  RawTar& raw(Bytes bytes);
  RawTar& end();
  const Buffer& bytes() const { return bytes_; }
  Buffer& bytes() { return bytes_; }

 private:
  Buffer bytes_;
};

/// Sets the checksum of the block at `offset` again.
void fix_checksum(Buffer& tar, std::size_t offset);

/// Whether the tar walk takes this archive.
bool accepted(Bytes tar);

/// A NEFF around `payload`, header filled in, hash right. If the payload is an archive that we
/// accept, libarchive must read the same in it, or the test fails.
Buffer wrap(Bytes payload);

/// A NEFF whose payload is `tar`, uncompressed.
inline Buffer wrap_tar(const RawTar& tar) {
  return wrap(tar.bytes());
}

/// Parses and expects a refusal; returns it.
Error refusal(Bytes file, const ContainerOptions& options = {});

/// Overwrites header fields.
template <class Change>
void change_header(Buffer& file, Change change) {
  NeffHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  change(header);
  std::memcpy(file.data(), &header, sizeof header);
}

/// What became of many damaged copies of one file.
struct FlipCount {
  unsigned refused = 0;
  unsigned harmless = 0;  ///< accepted with every member unchanged
  unsigned wrong = 0;     ///< accepted with other bytes
};

/// Flips `count` random bits of `file`, one at a time, in [begin, end), and parses each copy.
/// Deflate has redundant codings: a changed match distance may copy the same bytes from another
/// place. Such a copy inflates to the same archive, and only the header hash can tell.
FlipCount flip_bits(Buffer& file, std::size_t begin, std::size_t end, unsigned count,
                    bool verify_hash);

}  // namespace neffld::test
