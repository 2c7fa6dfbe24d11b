// SPDX-License-Identifier: MIT
#include "payload_hash.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>

namespace neffld {
namespace {

using Digest = std::vector<std::uint8_t>;

const char* digest_name(std::uint64_t pkg_version) {
  return pkg_version == 1 ? "SHA256" : "MD5";
}

Result<Digest> digest_of(Bytes payload, std::uint64_t pkg_version) {
  const EVP_MD* kind = pkg_version == 1 ? EVP_sha256() : EVP_md5();
  Digest digest(EVP_MAX_MD_SIZE);
  unsigned size = 0;
  errno = 0;
  if (EVP_Digest(payload.data(), payload.size(), digest.data(), &size, kind, nullptr) != 1) {
    const int reason = errno;
    ERR_clear_error();
    if (reason == ENOMEM) {
      return fail(Status::resource, ErrorClass::resource, {}, std::string(host_memory_exhausted));
    }
    // OpenSSL in FIPS mode has no MD5.
    return fail(Status::failure, ErrorClass::resource, {},
                fmt::format("libcrypto cannot compute a {} here", digest_name(pkg_version)));
  }
  digest.resize(size);
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

Result<std::array<std::uint8_t, 32>> payload_hash(Bytes payload, std::uint64_t pkg_version,
                                                  bool word_swapped, std::uint8_t tail) {
  NEFFLD_ASSIGN(Digest digest, digest_of(payload, pkg_version));
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
  NEFFLD_ASSIGN(Digest digest, digest_of(payload, header.pkg_version));
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
