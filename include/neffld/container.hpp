// SPDX-License-Identifier: MIT
// The NEFF container: header, payload integrity, archive members; and the writer (spec 01).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// The 1024-byte header as it lies in the file (spec 01 section 1.1). Alignment 1.
struct NeffHeader {
  Le64 pkg_version;
  Le64 header_size;
  Le64 data_size;
  Le64 neff_version_major;
  Le64 neff_version_minor;
  std::uint8_t neff_build_version[128];
  Le32 num_tpb;
  std::uint8_t hash[32];
  std::uint8_t uuid[16];
  char name[256];
  Le32 requested_tpb_count;
  std::uint8_t tpb_per_node[64];
  Le64 feature_bits;
  Le32 vnc_size;
  std::uint8_t pad[468];
};
static_assert(sizeof(NeffHeader) == 1024 && alignof(NeffHeader) == 1);
static_assert(offsetof(NeffHeader, num_tpb) == 0x0A8 && offsetof(NeffHeader, hash) == 0x0AC);
static_assert(offsetof(NeffHeader, uuid) == 0x0CC && offsetof(NeffHeader, name) == 0x0DC);
static_assert(offsetof(NeffHeader, requested_tpb_count) == 0x1DC);
static_assert(offsetof(NeffHeader, tpb_per_node) == 0x1E0);
static_assert(offsetof(NeffHeader, feature_bits) == 0x220);
static_assert(offsetof(NeffHeader, vnc_size) == 0x228 && offsetof(NeffHeader, pad) == 0x22C);

std::string header_name(const NeffHeader& header);   ///< model name without the NUL padding
std::string header_uuid(const NeffHeader& header);   ///< 8-4-4-4-12 lower-case hex
std::string header_build(const NeffHeader& header);  ///< build version text

/// Names of the feature bits that are set, in bit order; unnamed ones as "bit 18" (spec 01 s4).
std::vector<std::string> feature_names(std::uint64_t feature_bits);

/// Limits against hostile files (decision 26). Exceeding one is Status::resource.
struct ContainerLimits {
  std::uint64_t inflated_bytes = 32ull << 30;
  std::uint64_t members = 100'000;
  std::uint64_t member_bytes = 16ull << 30;
  std::uint64_t path_bytes = 4096;

  /// Bytes of the largest file worth reading: one payload of `inflated_bytes`, the header, what
  /// gzip adds where nothing compresses, and padding.
  std::uint64_t file_bytes() const;
};

struct ContainerOptions {
  ContainerLimits limits;
  /// Verify the header hash over the stored payload. gzip CRC-32, gzip length and tar checksums
  /// are always verified.
  bool verify_hash = false;
};

/// How the header hash matched (decision 2).
enum class HashForm : std::uint8_t { not_checked, plain, word_swapped };
std::string_view hash_form_name(HashForm form);

/// One regular file of the archive. `bytes` is a view into the container's arena.
struct Member {
  std::string_view name;  ///< "./" removed once
  Bytes bytes;
};

/// Facts about one parsed container, for the report.
struct ContainerFacts {
  std::uint64_t file_bytes = 0;
  std::uint64_t stored_bytes = 0;     ///< data_size
  std::uint64_t gzip_bytes = 0;       ///< the gzip member itself, 0 for a plain tar
  std::uint64_t padding_bytes = 0;    ///< zero bytes behind the gzip member
  std::uint64_t inflated_bytes = 0;   ///< size of the tar
  std::uint64_t skipped_members = 0;  ///< dropped by the suffix rule of spec 01 section 5.3
  bool gzip = false;
  std::string tar_dialect;  ///< "ustar", "pax", "gnu"
  HashForm hash_form = HashForm::not_checked;
  std::vector<std::string> warnings;
};

/// A parsed NEFF. It owns the inflated payload; members and everything built from them are views
/// into it, so it must outlive them. Movable; moving keeps every view valid.
class Container {
 public:
  Container(Container&&) noexcept;
  Container& operator=(Container&&) noexcept;
  ~Container();

  const NeffHeader& header() const;
  /// Members in byte-wise ascending name order.
  std::span<const Member> members() const;
  const Member* find(std::string_view name) const;
  const ContainerFacts& facts() const;

  struct State;
  explicit Container(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

/// The preflight gates 1..7 of spec 01 section 2, in that order, with its texts and statuses.
/// Touches only the first 1024 bytes and the size.
Result<NeffHeader> check_header(Bytes file);

/// Header gates, integrity, inflate, tar walk. `file` may be a plain tar inside or gzip. The
/// returned container does not refer to `file` unless the payload is an uncompressed tar: then
/// `file` must outlive it.
Result<Container> parse_container(Bytes file, const ContainerOptions& options = {});

/// Reads a whole file. Errors: class file, with the path and the reason; Status::resource for a
/// file of more than `most_bytes`, of which nothing is read.
Result<std::vector<std::uint8_t>> read_file(const std::string& path,
                                            std::uint64_t most_bytes = UINT64_MAX);
/// Creates a file, or replaces it atomically. Nothing is left of one that could not be written.
Result<void> write_file(const std::string& path, Bytes bytes);
/// Whether write_file() could create or replace the file now. Leaves nothing behind.
Result<void> check_writable(const std::string& path);

// ---- Writer (spec 01 section 8.2) ----

enum class Compression : std::uint8_t { none, stored, deflate };
enum class TarDialect : std::uint8_t { ustar, pax, gnu };

struct PackMember {
  std::string name;
  std::vector<std::uint8_t> bytes;
  bool directory = false;
};

/// Who and when, written into every tar header. The default is what public compilers write.
struct TarOwner {
  std::uint64_t uid = 0, gid = 0, mtime = 0;
  std::uint32_t mode = 0644, directory_mode = 0755;
  std::string user = "nobody", group = "nobody";
};

struct PackOptions {
  Compression compression = Compression::deflate;
  TarDialect dialect = TarDialect::ustar;
  TarOwner owner;
  std::uint64_t pkg_version = 2;
  std::uint64_t version_major = 2, version_minor = 0;  ///< major is raised to 2 if features != 0
  std::string build_version;
  std::optional<std::array<std::uint8_t, 16>> uuid;  ///< absent: a random version-4 one
  std::string name;
  std::uint32_t num_tpb = 1, requested_tpb_count = 1;
  std::array<std::uint8_t, 64> tpb_per_node = {1};
  std::uint64_t feature_bits = 0;
  std::uint32_t vnc_size = 1;
  bool word_swapped_hash = false;
  std::uint8_t hash_tail = 0;  ///< fills hash[16..31] when pkg_version is 2
  bool pad_payload = true;     ///< zeros up to a multiple of 10240 behind a gzip member
  bool pad_tar = false;        ///< zeros up to a multiple of 10240 at the end of the tar
};

/// Writes a NEFF. Errors: empty, duplicate or unrepresentable member names; sizes that do not fit.
Result<std::vector<std::uint8_t>> pack_neff(std::span<const PackMember> members,
                                            const PackOptions& options = {});

/// All regular files under `folder`, names relative to it, byte-wise sorted. Refuses links and
/// special files.
Result<std::vector<PackMember>> read_folder(const std::string& folder);

/// Writes every member under `folder` (created; must be empty or absent) without ever leaving it:
/// no absolute or `..` names, no links followed. The members lie in a folder of another name until
/// all are whole: beside an absent `folder`, inside an empty one. An error leaves nothing behind.
Result<void> unpack_neff(const Container& container, const std::string& folder);

}  // namespace neffld
