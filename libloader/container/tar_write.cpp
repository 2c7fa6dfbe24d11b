// SPDX-License-Identifier: MIT
#include "tar_write.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "member_name.hpp"
#include "tar_block.hpp"

namespace neffld {
namespace {

constexpr std::size_t record_bytes = 10240;

struct HeaderFields {
  std::string_view prefix, name;
  std::uint64_t size = 0;
  std::uint8_t type = '0';
  std::uint32_t mode = 0;
};

tl::unexpected<Error> unrepresentable(std::string_view name, std::string text) {
  return invalid(Where{printable_name(name), "", std::nullopt, std::nullopt}, std::move(text));
}

void put_text(MutableBytes field, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), field.size()), field.data());
}

/// Octal digits and a NUL; false if the value needs more digits.
bool put_octal(MutableBytes field, std::uint64_t value) {
  const std::size_t digits = field.size() - 1;
  if (3 * digits < 64 && value >> (3 * digits) != 0) return false;
  put_text(field, fmt::format("{:0{}o}", value, digits));
  return true;
}

/// GNU base-256: 0x80, then the big-endian value.
void put_base256(MutableBytes field, std::uint64_t value) {
  field[0] = 0x80;
  for (std::size_t i = field.size() - 1; i > 0; --i) {
    field[i] = static_cast<std::uint8_t>(value);
    value >>= 8;
  }
}

/// A number in the way of the dialect: GNU has base-256, pax a record, ustar only octal. Returns
/// the pax record needed, or nothing.
Result<std::string> put_number(MutableBytes field, std::uint64_t value, const char* key,
                               TarDialect dialect) {
  if (put_octal(field, value)) return std::string();
  switch (dialect) {
    case TarDialect::gnu:
      put_base256(field, value);
      return std::string();
    case TarDialect::pax:
      put_octal(field, 0);
      return fmt::format("{}={}\n", key, value);
    case TarDialect::ustar:
      break;
  }
  return invalid({},
                 fmt::format("{} {} does not fit the {} octal digits of a ustar header; use the "
                             "pax or GNU dialect",
                             key, value, field.size() - 1));
}

/// "LENGTH KEY=VALUE\n", where LENGTH counts itself.
std::string pax_record(std::string_view rest) {
  std::size_t length = rest.size() + 2;
  while (fmt::formatted_size("{} ", length) + rest.size() != length) ++length;
  return fmt::format("{} {}", length, rest);
}

void append(std::vector<std::uint8_t>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_padded(std::vector<std::uint8_t>& out, Bytes bytes) {
  append(out, bytes);
  out.resize(padded(out.size()));
}

void set_checksum(TarBlock& block) {
  put_octal(MutableBytes(block.checksum).first(7), tar_checksums(block).of_unsigned);
  block.checksum[7] = ' ';
}

/// One header block. `records` collects the pax records its numbers need.
Result<TarBlock> header_block(const HeaderFields& fields, TarDialect dialect, const TarOwner& owner,
                              std::string& records) {
  TarBlock block{};
  put_text(block.name, fields.name);
  put_text(block.prefix, fields.prefix);
  put_octal(block.mode, fields.mode & 07777);
  const auto number = [&](MutableBytes field, std::uint64_t value,
                          const char* key) -> Result<void> {
    NEFFLD_ASSIGN(const std::string record, put_number(field, value, key, dialect));
    if (!record.empty()) records += pax_record(record);
    return {};
  };
  NEFFLD_TRY(number(block.uid, owner.uid, "uid"));
  NEFFLD_TRY(number(block.gid, owner.gid, "gid"));
  NEFFLD_TRY(number(block.size, fields.size, "size"));
  NEFFLD_TRY(number(block.mtime, owner.mtime, "mtime"));
  block.type = fields.type;
  if (dialect == TarDialect::gnu) {
    std::memcpy(block.magic, "ustar  ", 8);
  } else {
    std::memcpy(block.magic, "ustar\00000", 8);
    put_octal(block.devmajor, 0);
    put_octal(block.devminor, 0);
  }
  put_text(MutableBytes(block.uname).first(31), owner.user);
  put_text(MutableBytes(block.gname).first(31), owner.group);
  set_checksum(block);
  return block;
}

Bytes raw(const TarBlock& block) {
  return {reinterpret_cast<const std::uint8_t*>(&block), sizeof block};
}

/// An extension header and its body. Its own numbers are those of nobody, so they always fit.
Result<void> append_extension(std::vector<std::uint8_t>& out, std::string_view name,
                              std::uint8_t type, std::string_view body, TarDialect dialect) {
  TarOwner owner;
  std::string unused;
  NEFFLD_ASSIGN(const TarBlock block,
                header_block({{}, name, body.size(), type, 0644}, dialect, owner, unused));
  append(out, raw(block));
  append_padded(out, as_bytes(body));
  return {};
}

/// "<dir>/PaxHeader/<base>", cut to the field.
std::string pax_header_name(std::string_view name) {
  if (name.ends_with('/')) name.remove_suffix(1);
  const auto slash = name.rfind('/');
  const auto dir = slash == std::string_view::npos ? std::string_view(".") : name.substr(0, slash);
  const auto base = slash == std::string_view::npos ? name : name.substr(slash + 1);
  return fmt::format("{}/PaxHeader/{}", dir.substr(0, 40), base.substr(0, 48));
}

/// Splits a long name at a '/' into the ustar prefix (155 bytes) and name (100 bytes).
bool split_ustar_name(HeaderFields& fields, std::string_view name) {
  constexpr std::size_t name_bytes = sizeof TarBlock::name, prefix_bytes = sizeof TarBlock::prefix;
  const std::size_t earliest = name.size() - name_bytes - 1;
  for (auto slash = name.find('/', earliest); slash != std::string_view::npos;
       slash = name.find('/', slash + 1)) {
    if (slash == 0 || slash > prefix_bytes || slash + 1 == name.size()) continue;
    fields.prefix = name.substr(0, slash);
    fields.name = name.substr(slash + 1);
    return true;
  }
  return false;
}

/// Puts the name where the dialect has room for it; returns the extension headers needed.
Result<std::vector<std::uint8_t>> place_name(HeaderFields& fields, std::string_view name,
                                             TarDialect dialect, std::string& records) {
  std::vector<std::uint8_t> out;
  fields.name = name.substr(0, sizeof TarBlock::name);
  if (name.size() <= sizeof TarBlock::name) return out;
  switch (dialect) {
    case TarDialect::ustar:
      if (split_ustar_name(fields, name)) return out;
      return unrepresentable(name,
                             fmt::format("a name of {} bytes does not fit a ustar header; use "
                                         "the pax or GNU dialect",
                                         name.size()));
    case TarDialect::gnu:
      NEFFLD_TRY(append_extension(out, "././@LongLink", 'L', std::string(name) + '\0', dialect));
      return out;
    case TarDialect::pax:
      records += pax_record(fmt::format("path={}\n", name));
      return out;
  }
  return out;
}

}  // namespace

Result<std::vector<std::uint8_t>> tar_headers(std::string_view name, std::uint64_t size,
                                              bool directory, TarDialect dialect,
                                              const TarOwner& owner) {
  HeaderFields fields;
  fields.size = size;
  fields.type = directory ? '5' : '0';
  fields.mode = directory ? owner.directory_mode : owner.mode;
  std::string records;
  if (dialect == TarDialect::pax) {
    // Public compilers put these three, in this order, before every member (spec 08 s1.3).
    for (const char* key : {"ctime", "atime", "mtime"}) {
      records += pax_record(fmt::format("{}={}\n", key, owner.mtime));
    }
  }
  NEFFLD_ASSIGN(auto out, place_name(fields, name, dialect, records));
  NEFFLD_ASSIGN(const TarBlock block, header_block(fields, dialect, owner, records));
  if (!records.empty()) {
    NEFFLD_TRY(append_extension(out, pax_header_name(name), 'x', records, dialect));
  }
  append(out, raw(block));
  return out;
}

Result<std::vector<std::uint8_t>> write_tar(std::span<const PackMember> members, TarDialect dialect,
                                            const TarOwner& owner, bool pad_to_record) {
  std::vector<std::uint8_t> tar;
  for (const PackMember& member : members) {
    std::string name = member.name;
    if (member.directory && !name.ends_with('/')) name += '/';
    NEFFLD_ASSIGN(const auto headers,
                  tar_headers(name, member.bytes.size(), member.directory, dialect, owner));
    append(tar, headers);
    append_padded(tar, member.bytes);
  }
  tar.resize(tar.size() + 2 * sizeof(TarBlock));
  if (pad_to_record) tar.resize((tar.size() + record_bytes - 1) / record_bytes * record_bytes);
  return tar;
}

}  // namespace neffld
