// SPDX-License-Identifier: MIT
#define OPENSSL_SUPPRESS_DEPRECATED  // see base/sha256.cpp
#include "payload_hash.hpp"

#include <fmt/format.h>
#include <openssl/md5.h>

#include <algorithm>

#include "neffld/sha256.hpp"

namespace neffld {
namespace {

using Digest = std::vector<std::uint8_t>;

const char* digest_name(std::uint64_t pkg_version) {
  return pkg_version == 1 ? "SHA256" : "MD5";
}

Digest digest_of(Bytes payload, std::uint64_t pkg_version) {
  if (pkg_version == 1) {
    Sha256 hash;
    hash.add(payload);
    const Sha256Hash digest = hash.finish();
    return {digest.begin(), digest.end()};
  }
  Digest digest(MD5_DIGEST_LENGTH);
  MD5(payload.data(), payload.size(), digest.data());
  return digest;
}

void swap_words(std::span<std::uint8_t> digest) {
  for (std::size_t i = 0; i < digest.size(); i += 4) {
    std::reverse(digest.begin() + static_cast<std::ptrdiff_t>(i),
                 digest.begin() + static_cast<std::ptrdiff_t>(i + 4));
  }
}

std::string hex(Bytes bytes) {
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

std::string_view hash_form_name(HashForm form) {
  switch (form) {
    case HashForm::not_checked:
      return "not checked";
    case HashForm::plain:
      return "plain";
    case HashForm::word_swapped:
      return "word-swapped";
  }
  return "unknown";
}

std::array<std::uint8_t, 32> payload_hash(Bytes payload, std::uint64_t pkg_version,
                                          bool word_swapped, std::uint8_t tail) {
  Digest digest = digest_of(payload, pkg_version);
  if (word_swapped) swap_words(digest);
  std::array<std::uint8_t, 32> field;
  field.fill(tail);
  std::copy(digest.begin(), digest.end(), field.begin());
  return field;
}

Result<HashForm> verify_payload_hash(const NeffHeader& header, Bytes payload) {
  const Where where{"NEFF header", "hash", std::nullopt, offsetof(NeffHeader, hash)};
  if (payload.empty()) {
    return invalid(where, "data_size is 0, so there is no payload whose hash could be verified");
  }
  Digest digest = digest_of(payload, header.pkg_version);
  const Bytes stored(header.hash, digest.size());
  if (std::ranges::equal(stored, digest)) return HashForm::plain;
  const std::string found = hex(digest);
  swap_words(digest);
  if (std::ranges::equal(stored, digest)) return HashForm::word_swapped;
  return invalid(where, fmt::format("{} mismatch!: expected {} (plain or with the bytes of each "
                                    "4-byte word reversed), the payload has {}",
                                    digest_name(header.pkg_version), hex(stored), found));
}

}  // namespace neffld
