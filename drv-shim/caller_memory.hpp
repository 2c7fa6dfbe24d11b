// SPDX-License-Identifier: MIT
// Reading memory a caller named, which may not be there: an address that is wrong must give the
// driver's answer, not kill the recorder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neffld/bytes.hpp"

namespace neffld::shim {

/// A caller in another process.
class RemoteCaller {
 public:
  virtual ~RemoteCaller() = default;
  /// Copies from its memory; returns the bytes before the first that cannot be read.
  virtual std::size_t read(std::uint64_t address, MutableBytes out) noexcept = 0;
  virtual std::int32_t process() const noexcept = 0;
};

/// While it lives, calls of this thread are those of another process: `read_caller` and
/// `caller_process` mean that one.
class CallerScope {
 public:
  explicit CallerScope(RemoteCaller& caller);
  ~CallerScope();
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;
};

/// Copies from the caller's memory; returns the bytes before the first that cannot be read.
std::size_t read_caller(std::uint64_t address, MutableBytes out) noexcept;

/// The caller's process number.
std::int32_t caller_process() noexcept;

/// Copies into this process's memory; false if it may not be written as a whole.
bool write_caller(std::uint64_t address, Bytes bytes) noexcept;

}  // namespace neffld::shim
