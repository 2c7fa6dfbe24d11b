// SPDX-License-Identifier: MIT
// SHA-256 over bytes that come in pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "neffld/bytes.hpp"

namespace neffld {

using Sha256Hash = std::array<std::uint8_t, 32>;

/// Takes no memory, so it works where there is none left.
class Sha256 {
 public:
  Sha256();
  void add(Bytes bytes);
  /// The hash of everything added; nothing may be added after it.
  Sha256Hash finish();

 private:
  alignas(8) std::array<std::byte, 112> state_;  ///< OpenSSL's SHA256_CTX
};

}  // namespace neffld
