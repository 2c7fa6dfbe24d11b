// SPDX-License-Identifier: MIT
// SHA-256 over bytes that come in pieces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace neffld {

using Sha256Hash = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  void add(Bytes bytes);
  /// The hash of everything added; nothing may be added after it. Error: libcrypto has no SHA-256
  /// here or no memory for it (class resource).
  Result<Sha256Hash> finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
  bool good_;
};

}  // namespace neffld
