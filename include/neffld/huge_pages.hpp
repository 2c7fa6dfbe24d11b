// SPDX-License-Identifier: MIT
// Anonymous memory at huge page boundaries: what large buffers are made of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neffld {

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Maps `bytes` zeroed bytes, a multiple of huge_page_bytes, and asks for huge pages, which take
/// 512 times fewer faults. Only advice: without them the same bytes arrive more slowly. Returns
/// null with errno set when there is no room. The caller unmaps it with munmap().
std::uint8_t* map_huge_pages(std::size_t bytes);

/// `bytes` in whole huge pages; at most half of the address space.
constexpr std::size_t in_huge_pages(std::size_t bytes) {
  return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

}  // namespace neffld
