// SPDX-License-Identifier: MIT
// The memory of a core for tests: only the bytes that may be touched are accessible.
#pragma once

#include "core.hpp"
#include "slow_reference.hpp"

namespace neffld::compute::test {

class TestMemory {
 public:
  /// The first `sbuf_bytes` and `psum_bytes` of each partition exist, in whole pages.
  TestMemory(std::size_t sbuf_bytes, std::size_t psum_bytes);
  ~TestMemory();
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;

  CoreMemory memory() const { return {sbuf_, psum_, {}}; }
  std::uint8_t* partition(bool psum, std::size_t number) const;

  void put(const Windows& windows);
  /// The number of bytes that are not as in `windows`.
  std::size_t difference(const Windows& windows) const;
  void get(Windows& windows) const;

 private:
  std::uint8_t* map_ = nullptr;
  std::uint8_t* sbuf_ = nullptr;
  std::uint8_t* psum_ = nullptr;
};

}  // namespace neffld::compute::test
