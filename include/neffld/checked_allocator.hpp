// SPDX-License-Identifier: MIT
// Memory for RapidJSON, whose own allocator hands null on when there is none, and whose containers
// then write through it.
#pragma once

#include <cstdlib>
#include <new>

namespace neffld {

/// RapidJSON's concept of an allocator, over malloc(). Throws std::bad_alloc.
class CheckedAllocator {
 public:
  static constexpr bool kNeedFree = true;

  void* Malloc(std::size_t size) { return size == 0 ? nullptr : checked(std::malloc(size)); }
  void* Realloc(void* memory, std::size_t /*before*/, std::size_t size) {
    if (size != 0) return checked(std::realloc(memory, size));
    Free(memory);
    return nullptr;
  }
  static void Free(void* memory) { std::free(memory); }

 private:
  static void* checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
};

}  // namespace neffld
