// SPDX-License-Identifier: MIT
// The host memory of a test program: malloc() and its family and mmap() are the program's own,
// count what is in use and can be told to fail. A sanitizer has its own malloc() and looks for
// leaks itself: there nothing is counted and nothing fails.
#pragma once

#include <cstdint>

namespace neffld::test {

/// Whether memory is counted in this build.
bool host_memory_is_watched();
/// What the whole process has in use.
struct HostMemory {
  std::uint64_t blocks = 0;  ///< of malloc()
  std::uint64_t mapped = 0;  ///< bytes of mappings, whole pages
  bool operator==(const HostMemory&) const = default;
};
HostMemory host_memory();

/// Lets one allocation of the process fail, the `nth` from 1 of those made in its lifetime by any
/// thread.
class FailingMemory {
 public:
  explicit FailingMemory(std::uint64_t nth);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  bool struck() const;
  /// The allocation that failed was made below a device call: the simulated device's own memory.
  bool struck_in_device() const;
  std::uint64_t seen() const;  ///< allocations so far
};

}  // namespace neffld::test
