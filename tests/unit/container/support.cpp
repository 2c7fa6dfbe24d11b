// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "archive_oracle.hpp"
#include "archive_walk.hpp"
#include "gzip.hpp"
#include "payload_hash.hpp"

namespace neffld::test {

Buffer bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

PackMember member(std::string name, std::string_view content) {
  return {std::move(name), bytes_of(content), false};
}

Buffer patterned(std::size_t size, std::uint32_t seed) {
  std::minstd_rand random(seed);
  Buffer out(size);
  std::uint8_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (random() % 4 == 0) value = static_cast<std::uint8_t>(random() >> 8);
    out[i] = value;
  }
  return out;
}

std::vector<PackMember> sample_members() {
  std::vector<PackMember> members = {member("kelf-0.json", "{\"graphs\": []}"),
                                     member("neff.json", "{\"nodes\": []}"),
                                     member("sg00/SP0.bin", ""), member("sg00/def.json", "{}")};
  members.push_back({"sg00/PE0.bin", patterned(64 * 300, 1), false});
  members.push_back({"sg00/const.npy", patterned(100'000, 2), false});
  members.push_back({"sg00/deep/er/table.bin", patterned(513, 3), false});
  std::ranges::sort(members, {}, &PackMember::name);
  return members;
}

Buffer pack(const std::vector<PackMember>& members, const PackOptions& options) {
  auto file = pack_neff(members, options);
  if (!file) FAIL(to_sentence(file.error()));
  return std::move(*file);
}

void fix_checksum(Buffer& tar, std::size_t offset) {
  TarBlock block;
  std::memcpy(&block, tar.data() + offset, sizeof block);
  const std::string sum = fmt::format("{:06o}", tar_checksums(block).of_unsigned);
  std::memcpy(block.checksum, sum.c_str(), 7);
  block.checksum[7] = ' ';
  std::memcpy(tar.data() + offset, &block, sizeof block);
}

RawTar& RawTar::header(std::string_view name, std::uint64_t size, char type, const Tweak& tweak) {
  TarBlock block{};
  std::memcpy(block.name, name.data(), std::min<std::size_t>(name.size(), 100));
  std::memcpy(block.mode, "0000644", 7);
  std::memcpy(block.uid, "0000000", 7);
  std::memcpy(block.gid, "0000000", 7);
  std::memcpy(block.size, fmt::format("{:011o}", size).c_str(), 11);
  std::memcpy(block.mtime, "00000000000", 11);
  block.type = static_cast<std::uint8_t>(type);
  std::memcpy(block.magic, "ustar\00000", 8);
  if (tweak) tweak(block);
  const std::size_t offset = bytes_.size();
  raw({reinterpret_cast<const std::uint8_t*>(&block), sizeof block});
  fix_checksum(bytes_, offset);
  return *this;
}

RawTar& RawTar::entry(std::string_view name, std::string_view body, char type, const Tweak& tweak) {
  header(name, body.size(), type, tweak);
  raw(as_bytes(body));
  bytes_.resize(padded(bytes_.size()));
  return *this;
}

RawTar& RawTar::raw(Bytes bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

RawTar& RawTar::end() {
  bytes_.resize(bytes_.size() + 1024);
  return *this;
}

bool accepted(Bytes tar) {
  ContainerFacts facts;
  return walk_archive(tar, {}, facts).has_value();
}

Buffer wrap(Bytes payload) {
  if (!is_gzip(payload)) {
    if (const auto text = dispute(payload)) FAIL_CHECK("libarchive reads other members: " << *text);
  }
  NeffHeader header{};
  header.pkg_version = 2;
  header.header_size = 1024;
  header.data_size = payload.size();
  header.neff_version_major = 2;
  const auto hash = payload_hash(payload, 2, false, 0);
  std::memcpy(header.hash, hash.data(), hash.size());
  Buffer file(sizeof header);
  std::memcpy(file.data(), &header, sizeof header);
  file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

Error refusal(Bytes file, const ContainerOptions& options) {
  const auto parsed = parse_container(file, options);
  REQUIRE_FALSE(parsed);
  CHECK_FALSE(parsed.error().text.empty());
  return parsed.error();
}

FlipCount flip_bits(Buffer& file, std::size_t begin, std::size_t end, unsigned count,
                    bool verify_hash) {
  const Buffer original = file;
  const auto whole = parse_container(original);
  REQUIRE(whole);
  const auto same = [](const Member& a, const Member& b) {
    return a.name == b.name && std::ranges::equal(a.bytes, b.bytes);
  };
  ContainerOptions options;
  options.verify_hash = verify_hash;
  std::mt19937 random(20'240);
  std::uniform_int_distribution<std::size_t> place(begin, end - 1);
  FlipCount counted;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t at = place(random);
    const auto bit = static_cast<std::uint8_t>(1u << random() % 8);
    file[at] ^= bit;
    const auto parsed = parse_container(file, options);
    if (!parsed) {
      ++counted.refused;
      if (parsed.error().error_class == ErrorClass::resource) FAIL(to_sentence(parsed.error()));
    } else if (std::ranges::equal(parsed->members(), whole->members(), same)) {
      ++counted.harmless;
    } else {
      ++counted.wrong;
    }
    file[at] ^= bit;
  }
  return counted;
}

}  // namespace neffld::test
