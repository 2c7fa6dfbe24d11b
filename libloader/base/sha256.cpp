// SPDX-License-Identifier: MIT
// The functions that OpenSSL 3 calls deprecated: those it recommends look up their algorithm at run
// time, and crash when memory runs out in it.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "neffld/sha256.hpp"

#include <openssl/sha.h>

namespace neffld {
namespace {

SHA256_CTX* context(std::array<std::byte, 112>& state) {
  static_assert(sizeof(SHA256_CTX) == sizeof state && alignof(SHA256_CTX) <= 8);
  return reinterpret_cast<SHA256_CTX*>(state.data());
}

}  // namespace

Sha256::Sha256() {
  SHA256_Init(context(state_));
}

void Sha256::add(Bytes bytes) {
  SHA256_Update(context(state_), bytes.data(), bytes.size());
}

Sha256Hash Sha256::finish() {
  Sha256Hash hash;
  SHA256_Final(hash.data(), context(state_));
  return hash;
}

}  // namespace neffld
