// SPDX-License-Identifier: MIT
#include "tar_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "member_name.hpp"
#include "pax_records.hpp"
#include "tar_block.hpp"
#include "zero_tail.hpp"

namespace neffld {
namespace {

/// Global headers are legal anywhere and carry nothing for us; a chain of them is an attack.
constexpr unsigned most_extension_headers = 16;
/// Readers stop at a mebibyte; real ones have some hundred bytes.
constexpr std::uint64_t most_extension_bytes = std::uint64_t{1} << 20;

/// What the extension headers before an entry say about it.
struct Extensions {
  std::optional<std::string> gnu_name;
  std::optional<PaxRecords> pax;
  bool global_seen = false;
};

Where at(std::string_view name, std::uint64_t offset) {
  return Where{printable_name(name), "tar header", std::nullopt, offset};
}

std::string_view text_of(Bytes field) {
  const auto nul = std::find(field.begin(), field.end(), 0);
  return as_text(field.first(static_cast<std::size_t>(nul - field.begin())));
}

/// Name of the entry as its own header gives it.
std::string plain_name(const TarBlock& block) {
  std::string name(text_of(block.name));
  if (is_posix(block) && block.prefix[0] != 0) {
    name = std::string(text_of(block.prefix)) + "/" + name;
  }
  return name;
}

bool junk_behind_nul(Bytes field) {
  return first_nonzero(field, text_of(field).size()) != field.size();
}

tl::unexpected<Error> damaged(const TarBlock& block, std::uint64_t offset, std::string_view how) {
  return invalid(at(plain_name(block), offset),
                 fmt::format("failure while reading NEFF metadata: damaged tar header, {}", how));
}

Result<void> check_sum(const TarBlock& block, std::uint64_t offset) {
  const auto sums = tar_checksums(block);
  // The one number that no dialect has as base-256.
  const bool octal = (block.checksum[0] & 0x80) == 0;
  const auto stored = octal ? tar_number(block.checksum) : std::nullopt;
  if (stored && (*stored == sums.of_unsigned || *stored == sums.of_signed)) return {};
  return damaged(block, offset,
                 fmt::format("expected checksum '{}', got {:o} (octal)",
                             printable_name(text_of(block.checksum)), sums.of_unsigned));
}

/// Fields whose values decide nothing here: garbage in them is a header that was no header.
Result<void> check_numbers(const TarBlock& block, std::uint64_t offset) {
  const std::pair<const char*, Bytes> fields[] = {
      {"mode", block.mode},   {"uid", block.uid},           {"gid", block.gid},
      {"mtime", block.mtime}, {"devmajor", block.devmajor}, {"devminor", block.devminor}};
  for (const auto& [name, field] : fields) {
    if (may_be_number(field)) continue;
    return damaged(block, offset,
                   fmt::format("its {} '{}' is neither an octal nor a base-256 number", name,
                               printable_name(as_text(field))));
  }
  return {};
}

Result<const TarBlock*> block_at(Bytes tar, std::uint64_t offset) {
  if (offset > tar.size() || tar.size() - offset < tar_block_bytes) {
    return invalid(
        at("", offset),
        fmt::format("failure while reading NEFF metadata: the archive ends inside a "
                    "header block, {} of {} bytes are left",
                    tar.size() - std::min<std::uint64_t>(offset, tar.size()), tar_block_bytes));
  }
  const auto* block = reinterpret_cast<const TarBlock*>(tar.data() + offset);
  NEFFLD_TRY(check_sum(*block, offset));
  NEFFLD_TRY(check_numbers(*block, offset));
  if (has_odd_magic(*block)) {
    return damaged(*block, offset,
                   fmt::format("its magic '{}' is of no known dialect, known are 'ustar\\x00' and "
                               "'ustar  \\x00'",
                               printable_name({reinterpret_cast<const char*>(block->magic), 8})));
  }
  return block;
}

/// The size field, and that so many bytes are there.
Result<std::uint64_t> body_size(Bytes tar, const TarBlock& block, std::uint64_t offset,
                                std::string_view name, const std::optional<PaxRecords>& pax) {
  const auto size = tar_number(block.size);
  if (!size) {
    return invalid(at(name, offset),
                   fmt::format("invalid files size({}): the size field is neither an octal number "
                               "nor a base-256 number below 2^63",
                               printable_name(as_text(block.size))));
  }
  const std::uint64_t wanted = pax && pax->size ? *pax->size : *size;
  const std::uint64_t left = tar.size() - offset - tar_block_bytes;
  if (wanted > left || padded(wanted) > left) {
    return invalid(at(name, offset),
                   fmt::format("invalid files size({}): only {} bytes follow this header, the body "
                               "is padded to {}-byte blocks",
                               wanted, left, tar_block_bytes));
  }
  return wanted;
}

Result<void> take_gnu_name(Extensions& found, Bytes body, std::uint64_t offset) {
  if (found.gnu_name) return invalid(at("", offset), "two GNU long-name headers for one entry");
  const std::string_view name = text_of(body);
  if (junk_behind_nul(body)) {
    return invalid(at(name, offset), "the member name holds a NUL");
  }
  found.gnu_name = std::string(name);
  return {};
}

/// Handles one extension header; false if `block` is the entry's own header.
Result<bool> take_extension(Extensions& found, const TarBlock& block, Bytes body,
                            std::uint64_t offset) {
  switch (block.type) {
    case 'x':
    case 'X': {
      if (found.pax) return invalid(at("", offset), "two pax headers for one entry");
      NEFFLD_ASSIGN(found.pax, parse_pax_records(body, offset));
      return true;
    }
    case 'g': {
      NEFFLD_ASSIGN(const PaxRecords records, parse_pax_records(body, offset));
      // Readers disagree whether global records apply; none that decides what a member is may
      // hide there.
      if (records.path || records.size) {
        return invalid(at("", offset), "a pax global header sets path or size");
      }
      found.global_seen = true;
      return true;
    }
    case 'L':
      NEFFLD_TRY(take_gnu_name(found, body, offset));
      return true;
    case 'K':
      return true;  // the target of a link, which is refused when its header comes
    default:
      return false;
  }
}

const char* refused_type(std::uint8_t type) {
  switch (type) {
    case '1':
      return "a hard link";
    case '2':
      return "a symbolic link";
    case '3':
      return "a character device";
    case '4':
      return "a block device";
    case '6':
      return "a FIFO";
    case '7':
      return "a contiguous file";
    case 'S':
      return "a sparse file";
    case 'M':
      return "a continued file of a multi-volume archive";
    case 'D':
      return "a GNU dump directory";
    case 'V':
      return "a volume label";
    default:
      return nullptr;
  }
}

Result<void> check_type(const TarBlock& block, std::string_view name, std::uint64_t offset) {
  if (block.type == '0' || block.type == 0 || block.type == '5') return {};
  const char* kind = refused_type(block.type);
  const std::string what =
      kind != nullptr ? kind : fmt::format("an entry of unknown type 0x{:02x}", block.type);
  return invalid(
      at(name, offset),
      fmt::format("{} is not allowed in a NEFF, only regular files and directories are", what));
}

/// The name, from the extension header that sets it or from the entry's own header.
Result<std::string> entry_name(const Extensions& found, const TarBlock& block,
                               std::uint64_t offset) {
  if (found.gnu_name && found.pax) {
    // Readers apply these two in different orders and to different headers.
    return invalid(at(*found.gnu_name, offset), "both a pax header and a GNU long name precede it");
  }
  if (found.gnu_name) return *found.gnu_name;
  if (found.pax && found.pax->path) return *found.pax->path;
  std::string name = plain_name(block);
  if (junk_behind_nul(block.name) || (is_posix(block) && junk_behind_nul(block.prefix))) {
    return invalid(at(name, offset), "the member name holds a NUL");
  }
  if (is_posix(block) && text_of(block.prefix).ends_with('/')) {
    return invalid(at(name, offset),
                   "the name's prefix ends in '/'; readers differ in how they join it to the name");
  }
  return name;
}

TarVariant variant_of(const Extensions& found, const TarBlock& block) {
  if (found.pax || found.global_seen) return TarVariant::pax;
  if (found.gnu_name || is_gnu(block)) return TarVariant::gnu;
  return is_posix(block) ? TarVariant::ustar : TarVariant::v7;
}

Result<TarEntry> own_header(Bytes tar, const TarBlock& block, std::uint64_t offset,
                            const Extensions& found, const ContainerLimits& limits) {
  TarEntry entry;
  NEFFLD_ASSIGN(entry.name, entry_name(found, block, offset));
  if (entry.name.size() > limits.path_bytes) {
    return fail(Status::resource, ErrorClass::resource, at(entry.name, offset),
                fmt::format("the member name has {} bytes, the limit is {}", entry.name.size(),
                            limits.path_bytes));
  }
  NEFFLD_TRY(check_type(block, entry.name, offset));
  if (is_gnu(block) &&
      first_nonzero(gnu_sparse_fields(block), 0) != gnu_sparse_fields(block).size()) {
    return invalid(at(entry.name, offset),
                   "its GNU header describes a sparse file, which is not allowed in a NEFF");
  }
  NEFFLD_ASSIGN(entry.size, body_size(tar, block, offset, entry.name, found.pax));
  entry.directory = block.type == '5';
  if (entry.directory && entry.size != 0) {
    return invalid(at(entry.name, offset),
                   fmt::format("invalid files size({}): a directory has no body", entry.size));
  }
  if (entry.size > limits.member_bytes) {
    return fail(
        Status::resource, ErrorClass::resource, at(entry.name, offset),
        fmt::format("the member has {} bytes, the limit is {}", entry.size, limits.member_bytes));
  }
  entry.variant = variant_of(found, block);
  entry.data_offset = offset + tar_block_bytes;
  entry.next_offset = entry.data_offset + padded(entry.size);
  return entry;
}

}  // namespace

std::string_view tar_variant_name(TarVariant variant) {
  switch (variant) {
    case TarVariant::v7:
      return "v7";
    case TarVariant::ustar:
      return "ustar";
    case TarVariant::gnu:
      return "gnu";
    case TarVariant::pax:
      return "pax";
  }
  return "unknown";
}

Result<TarEntry> read_tar_entry(Bytes tar, std::uint64_t offset, const ContainerLimits& limits) {
  Extensions found;
  std::uint64_t position = offset;
  for (unsigned headers = 0; headers <= most_extension_headers; ++headers) {
    NEFFLD_ASSIGN(const TarBlock* block, block_at(tar, position));
    const bool extension = is_extension_type(block->type);
    if (!extension) {
      NEFFLD_ASSIGN(TarEntry entry, own_header(tar, *block, position, found, limits));
      entry.header_offset = offset;
      return entry;
    }
    NEFFLD_ASSIGN(const std::uint64_t size,
                  body_size(tar, *block, position, plain_name(*block), std::nullopt));
    if (size > most_extension_bytes) {
      return invalid(at(plain_name(*block), position),
                     fmt::format("an extension header of {} bytes, at most {} are allowed", size,
                                 most_extension_bytes));
    }
    const Bytes body = tar.subspan(position + tar_block_bytes, size);
    NEFFLD_TRY(take_extension(found, *block, body, position));
    position += tar_block_bytes + padded(size);
  }
  return invalid(at("", offset), fmt::format("more than {} extension headers before one entry",
                                             most_extension_headers));
}

Result<bool> tar_ends_at(Bytes tar, std::uint64_t offset, std::vector<std::string>& warnings) {
  const std::uint64_t left = tar.size() - offset;
  if (left == 0) {
    warnings.push_back("the archive ends without its two zero blocks");
    return true;
  }
  if (left < tar_block_bytes) {
    return invalid(at("", offset), fmt::format("truncated tar archive: {} bytes are left where a "
                                               "{}-byte block must follow",
                                               left, tar_block_bytes));
  }
  if (first_nonzero(tar.subspan(offset, tar_block_bytes), 0) != tar_block_bytes) return false;
  const std::size_t junk = first_nonzero(tar, offset);
  if (junk != tar.size()) {
    return invalid(at("", junk), fmt::format("byte 0x{:02x} behind the end of the archive; only "
                                             "zeros may follow its zero blocks",
                                             tar[junk]));
  }
  if (left < 2 * tar_block_bytes) {
    warnings.push_back("the archive ends with one zero block instead of two");
  }
  return true;
}

}  // namespace neffld
