// SPDX-License-Identifier: MIT
// The one memory block an inflated payload lives in.
#pragma once

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// Anonymous memory whose final size is not known in advance. Address space is reserved
/// generously and costs nothing until touched; growing moves page tables, not bytes. Owns the
/// mapping; movable.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  /// Reserves at least `bytes` of zeroed memory. Errors: status resource.
  static Result<Arena> reserve(std::size_t bytes);
  /// Doubles the capacity. The block may move, so views into it become invalid. Errors: status
  /// resource.
  Result<void> grow();
  /// Gives back whole pages behind the first `used` bytes. Views stay valid.
  void trim(std::size_t used);

  MutableBytes bytes() { return {base_, capacity_}; }
  Bytes bytes() const { return {base_, capacity_}; }

 private:
  Arena(std::uint8_t* base, std::size_t capacity) : base_(base), capacity_(capacity) {}
  void release();

  std::uint8_t* base_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace neffld
