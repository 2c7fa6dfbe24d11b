// SPDX-License-Identifier: MIT
// Large host buffers for section contents. First-touch page faults are most of the cost of filling
// them (design rule 8), so they ask for huge pages.
#pragma once

#include <cstdint>
#include <memory>

#include "neffld/bytes.hpp"

namespace neffld {

/// Uninitialised host memory. Throws std::bad_alloc.
class HostPages {
 public:
  explicit HostPages(std::uint64_t bytes);
  MutableBytes bytes() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    std::size_t mapped;  ///< bytes of a mapping; 0: the allocator's
    void operator()(std::uint8_t* memory) const;
  };
  std::unique_ptr<std::uint8_t, Free> memory_;
  std::size_t size_;
};

}  // namespace neffld
