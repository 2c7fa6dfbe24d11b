// SPDX-License-Identifier: MIT
// Memory that ends exactly at an unmapped page, so that a driver that goes past it gets a fault
// instead of this program's memory.
#pragma once

#include <cstdint>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld::shim {

class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// `bytes` of zeros, valid until the next call.
  Result<MutableBytes> zeros(std::uint64_t bytes);
  /// An address that is mapped for nobody.
  Result<std::uint64_t> unmapped();

 private:
  void release() noexcept;

  std::uint8_t* base_ = nullptr;
  std::uint64_t usable_ = 0;  ///< a multiple of the page; the guard follows
};

}  // namespace neffld::shim
