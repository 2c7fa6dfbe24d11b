// SPDX-License-Identifier: MIT
#include "neffld/sha256.hpp"

#include <openssl/evp.h>

namespace neffld {

Sha256::Sha256()
    : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free),
      good_(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1) {}

void Sha256::add(Bytes bytes) {
  good_ = good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
}

Result<Sha256Hash> Sha256::finish() {
  Sha256Hash hash{};
  if (good_ && EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1) return hash;
  return fail(Status::failure, ErrorClass::resource, {}, "libcrypto cannot compute a SHA256 here");
}

}  // namespace neffld
