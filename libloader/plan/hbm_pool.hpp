// SPDX-License-Identifier: MIT
// One HBM of the driver's allocator (spec 03 section 10, spec 11 B.1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "neffld/memory.hpp"

namespace neffld {

/// Page-granular first fit over [base, base + bytes). Sizes are multiples of a page.
class HbmPool {
 public:
  HbmPool(std::uint64_t base, std::uint64_t bytes);

  /// Lowest address for `bytes` that is a multiple of `align` (0 or a power of two).
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t align);
  /// Takes exactly [address, address + bytes); false if it is not all free.
  bool take_at(std::uint64_t address, std::uint64_t bytes);

  bool contains(std::uint64_t address) const { return address >= base_ && address < end_; }
  std::uint64_t base() const { return base_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t largest_block() const;

 private:
  using Runs = std::map<std::uint64_t, std::uint64_t>;  ///< start -> end of free runs
  void carve(Runs::iterator run, std::uint64_t address, std::uint64_t bytes);

  std::uint64_t base_, end_, free_bytes_;
  Runs runs_;
  /// Below these addresses nothing of that size and alignment is free: memory is never given back
  /// here, so a later search of as much or more may start there.
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> searched_;
};

/// The pools of one HBM and the driver's choice between them.
class HbmPools {
 public:
  HbmPools(std::uint64_t base, std::uint64_t bytes);

  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align);
  std::optional<std::uint64_t> allocate_contiguous(std::uint64_t bytes);
  bool occupy(const Region& region, bool contiguous);
  /// The same requests in an HBM larger by `bytes`. What was there already keeps its distance from
  /// the end of the HBM it hangs on: the small pool and contiguous pages move up.
  HbmPools grown(std::uint64_t bytes) const;
  MemoryMap::Hbm facts() const;

 private:
  struct Taken {
    Region region;
    std::uint64_t align = 0;
    bool contiguous = false;
    bool fixed = false;  ///< was there already: it keeps its address
  };

  std::uint64_t base_, bytes_;
  HbmPool main_, small_;
  std::uint64_t contiguous_bytes_ = 0;
  std::vector<Taken> taken_;
};

}  // namespace neffld
