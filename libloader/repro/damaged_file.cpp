// SPDX-License-Identifier: MIT
#include "damaged_file.hpp"

#include <algorithm>
#include <cstring>

#include "container/gzip.hpp"
#include "container/gzip_write.hpp"
#include "container/payload_hash.hpp"
#include "container/tar_block.hpp"
#include "remove_units.hpp"

namespace neffld {
namespace {

constexpr std::size_t block_bytes = sizeof(TarBlock);
/// Pieces of a compressed stream: finer ones seldom leave the error as it is and cost a load each.
constexpr std::size_t most_pieces = 1024;

NeffHeader overlay(const std::vector<std::uint8_t>& bytes) {
  NeffHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Bytes of the entry at the start of `tar`; of a block if there is none.
std::size_t entry_bytes(Bytes tar) {
  if (tar.size() < block_bytes) return tar.size();
  TarBlock block;
  std::memcpy(&block, tar.data(), sizeof block);
  const auto size = tar_number(block.size);
  const auto sum = tar_number(block.checksum);
  const bool whole =
      size && sum && *sum == tar_checksums(block).of_unsigned && *size <= tar.size() - block_bytes;
  return block_bytes + (whole ? std::min<std::size_t>(padded(*size), tar.size() - block_bytes) : 0);
}

void append(std::vector<std::uint8_t>& to, Bytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Streams that hold nothing, each with one kind of damage, taken from the end of `payload` where
/// the error may quote it: torn, followed by another, followed by a byte, with a wrong CRC or
/// length.
std::vector<std::vector<std::uint8_t>> broken_streams(Bytes payload) {
  constexpr std::size_t trailer_bytes = 8;
  constexpr std::size_t length_bytes = 4;
  std::vector<std::vector<std::uint8_t>> streams;
  const auto whole = gzip_deflate({});
  if (!whole) return streams;
  const Bytes body = Bytes(*whole).first(whole->size() - trailer_bytes);
  streams.emplace_back(body.begin(), body.end());
  append(streams.emplace_back(*whole), *whole);
  std::size_t end = payload.size();
  while (end != 0 && payload[end - 1] == 0) --end;
  if (end != 0) streams.emplace_back(*whole).push_back(payload[end - 1]);
  // The trailer itself may end in zeros, as padding does.
  const std::size_t last = std::min(payload.size(), end + trailer_bytes - 1);
  for (std::size_t at = std::max(end, trailer_bytes); at <= last; ++at) {
    const Bytes trailer = payload.subspan(at - trailer_bytes, trailer_bytes);
    append(streams.emplace_back(body.begin(), body.end()), trailer);
    append(streams.emplace_back(whole->begin(), whole->end() - length_bytes),
           trailer.last(length_bytes));
  }
  return streams;
}

}  // namespace

DamagedFile::DamagedFile(Bytes file, std::uint64_t most_inflated) {
  const Bytes head = file.first(std::min(file.size(), sizeof(NeffHeader)));
  Bytes payload = file.subspan(head.size());
  header_.assign(head.begin(), head.end());
  if (header_.size() == sizeof(NeffHeader)) {
    const NeffHeader header = overlay(header_);
    size_right_ = header.data_size != 0 && header.data_size <= payload.size();
    if (size_right_) payload = payload.first(static_cast<std::size_t>(header.data_size));
    const auto hash = verify_payload_hash(header, payload);
    hash_right_ = hash.has_value();
    hash_swapped_ = hash_right_ && *hash == HashForm::word_swapped;
  }
  payload_.assign(payload.begin(), payload.end());
  content_ = payload_;
  archive_ = !is_gzip(payload) && payload.size() % block_bytes == 0;
  if (!is_gzip(payload)) return;
  const auto archive = inflate_payload(payload, most_inflated);
  if (!archive) {
    end_if_shortage(archive.error());
    return;
  }
  const Bytes bytes = Bytes(archive->arena.bytes()).first(static_cast<std::size_t>(archive->size));
  content_.assign(bytes.begin(), bytes.end());
  inflated_ = archive_ = true;
}

std::vector<std::uint8_t> DamagedFile::assemble(const std::vector<std::uint8_t>& content) const {
  std::vector<std::uint8_t> payload = content;
  if (inflated_) {
    auto stream = gzip_deflate(content);
    if (!stream) {
      end_if_shortage(stream.error());
      return {};
    }
    payload = std::move(*stream);
  }
  std::vector<std::uint8_t> file = header_;
  if (size_right_) {
    NeffHeader header = overlay(header_);
    header.data_size = payload.size();
    if (hash_right_) {
      const auto hash = payload_hash(payload, header.pkg_version, hash_swapped_,
                                     header.hash[sizeof header.hash - 1]);
      std::ranges::copy(hash, header.hash);
    }
    std::memcpy(file.data(), &header, sizeof header);
  }
  file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

void DamagedFile::blank_names(Judge& judge) {
  if (header_.size() != sizeof(NeffHeader)) return;
  const std::vector<std::uint8_t> before = header_;
  NeffHeader header = overlay(header_);
  std::ranges::fill(header.name, '\0');
  std::ranges::fill(header.uuid, std::uint8_t{0});
  std::memcpy(header_.data(), &header, sizeof header);
  if (!judge.shows(assemble(content_))) header_ = before;
}

std::vector<std::size_t> DamagedFile::pieces() const {
  if (!archive_) return even_units(content_.size(), 1);
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < content_.size();) {
    starts.push_back(at);
    at += entry_bytes(Bytes(content_).subspan(at));
  }
  return starts;
}

bool DamagedFile::remove(Judge& judge, std::size_t most_parts) {
  const std::size_t before = content_.size();
  const std::vector<std::size_t> units = pieces();
  const Kept kept = remove_units(units.size(), most_parts, [&](const Kept& some) {
    return judge.may_try() && judge.shows(assemble(kept_bytes(content_, units, some)));
  });
  content_ = kept_bytes(content_, units, kept);
  return content_.size() != before;
}

void DamagedFile::zero(Judge& judge) {
  const std::vector<std::size_t> units = even_units(content_.size(), archive_ ? block_bytes : 1);
  const Kept kept = remove_units(units.size(), most_pieces, [&](const Kept& some) {
    return judge.may_try() && judge.shows(assemble(zeroed_bytes(content_, units, some)));
  });
  content_ = zeroed_bytes(content_, units, kept);
}

void DamagedFile::replace_stream(Judge& judge) {
  if (!is_gzip(content_)) return;
  for (std::vector<std::uint8_t>& stream : broken_streams(content_)) {
    if (stream.size() >= content_.size() || !judge.may_try()) continue;
    if (!judge.shows(assemble(stream))) continue;
    content_ = std::move(stream);
    return;
  }
}

void DamagedFile::reduce(Judge& judge) {
  if (inflated_ && !(judge.may_try() && judge.shows(assemble(content_)))) {
    content_ = payload_;  // the error is in how it was compressed
    inflated_ = archive_ = false;
  }
  blank_names(judge);
  if (!archive_) replace_stream(judge);
  for (const std::size_t parts : {std::size_t{16}, most_pieces}) {
    while (remove(judge, parts)) {
    }
  }
  zero(judge);
}

}  // namespace neffld
