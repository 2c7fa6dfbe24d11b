// SPDX-License-Identifier: MIT
// The NEFF writer (spec 01 section 8.2).
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <unordered_set>

#include "gzip_write.hpp"
#include "member_name.hpp"
#include "neffld/container.hpp"
#include "payload_hash.hpp"
#include "tar_write.hpp"

namespace neffld {
namespace {

/// Real payloads are padded to this (spec 08 section 1.3).
constexpr std::size_t payload_unit = 10240;

Where at(const PackMember& member) {
  return Where{printable_name(member.name), "", std::nullopt, std::nullopt};
}

Result<void> check_members(std::span<const PackMember> members) {
  const ContainerLimits limits;
  std::unordered_set<std::string_view> names;
  for (const PackMember& member : members) {
    std::string_view name = member.name;
    if (const auto problem = name_problem(name)) return invalid(at(member), *problem);
    if (name.size() > limits.path_bytes) {
      return invalid(at(member), fmt::format("the member name has {} bytes, readers accept {}",
                                             name.size(), limits.path_bytes));
    }
    if (name.ends_with('/')) {
      if (!member.directory) return invalid(at(member), "a file name may not end in '/'");
      name.remove_suffix(1);
    }
    if (member.directory && !member.bytes.empty()) {
      return invalid(at(member), "a directory has no bytes");
    }
    // The reader removes "./" once, so both spellings are the same member.
    if (name.starts_with("./")) name.remove_prefix(2);
    if (!names.insert(name).second) {
      return invalid(at(member), "two members have this name; names must be unique");
    }
  }
  return {};
}

Result<void> put_text(MutableBytes field, const std::string& text, const char* what) {
  if (text.size() > field.size() || text.find('\0') != std::string::npos) {
    return invalid(Where{"NEFF header", what, std::nullopt, std::nullopt},
                   fmt::format("the text has {} bytes, at most {} without a NUL fit", text.size(),
                               field.size()));
  }
  std::copy(text.begin(), text.end(), field.begin());
  return {};
}

/// RFC 4122 version 4.
std::array<std::uint8_t, 16> random_uuid() {
  std::random_device random;
  std::array<std::uint8_t, 16> uuid;
  for (auto& byte : uuid) byte = static_cast<std::uint8_t>(random());
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0F) | 0x40);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3F) | 0x80);
  return uuid;
}

Result<std::vector<std::uint8_t>> make_payload(std::span<const PackMember> members,
                                               const PackOptions& options) {
  NEFFLD_ASSIGN(std::vector<std::uint8_t> payload,
                write_tar(members, options.dialect, options.owner, options.pad_tar));
  switch (options.compression) {
    case Compression::none:
      return payload;
    case Compression::stored:
      payload = gzip_stored(payload);
      break;
    case Compression::deflate: {
      NEFFLD_ASSIGN(payload, gzip_deflate(payload));
      break;
    }
  }
  if (options.pad_payload) {
    payload.resize((payload.size() + payload_unit - 1) / payload_unit * payload_unit);
  }
  return payload;
}

Result<NeffHeader> make_header(Bytes payload, const PackOptions& options) {
  if (options.pkg_version != 1 && options.pkg_version != 2) {
    return invalid(
        Where{"NEFF header", "pkg_version", std::nullopt, std::nullopt},
        fmt::format("{} is not a package version, accepted are 1 and 2", options.pkg_version));
  }
  NeffHeader header{};
  header.pkg_version = options.pkg_version;
  header.header_size = sizeof header;
  header.data_size = payload.size();
  // Feature bits are only looked at from major version 2 on (spec 01 section 4).
  header.neff_version_major = options.feature_bits != 0
                                  ? std::max<std::uint64_t>(options.version_major, 2)
                                  : options.version_major;
  header.neff_version_minor = options.version_minor;
  NEFFLD_TRY(put_text(header.neff_build_version, options.build_version, "neff_build_version"));
  header.num_tpb = options.num_tpb;
  const auto hash =
      payload_hash(payload, options.pkg_version, options.word_swapped_hash, options.hash_tail);
  std::ranges::copy(hash, header.hash);
  std::ranges::copy(options.uuid ? *options.uuid : random_uuid(), header.uuid);
  auto* name = reinterpret_cast<std::uint8_t*>(header.name);
  NEFFLD_TRY(put_text({name, sizeof header.name}, options.name, "name"));
  header.requested_tpb_count = options.requested_tpb_count;
  std::ranges::copy(options.tpb_per_node, header.tpb_per_node);
  header.feature_bits = options.feature_bits;
  header.vnc_size = options.vnc_size;
  return header;
}

}  // namespace

Result<std::vector<std::uint8_t>> pack_neff(std::span<const PackMember> members,
                                            const PackOptions& options) {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    NEFFLD_TRY(check_members(members));
    NEFFLD_ASSIGN(const auto payload, make_payload(members, options));
    NEFFLD_ASSIGN(const NeffHeader header, make_header(payload, options));
    std::vector<std::uint8_t> file(sizeof header + payload.size());
    std::memcpy(file.data(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), file.begin() + sizeof header);
    return file;
  });
}

}  // namespace neffld
