// SPDX-License-Identifier: MIT
#include "host_pages.hpp"

#include <sys/mman.h>

#include <limits>

namespace neffld {
namespace {

constexpr std::uint64_t huge_page = 2ull << 20;

}  // namespace

HostPages::HostPages(std::uint64_t bytes) : size_(bytes) {
  // Small buffers stay with the allocator: a huge page would waste most of itself.
  const bool large = bytes >= huge_page / 2;
  const std::uint64_t align = large ? huge_page : alignof(std::max_align_t);
  if (bytes > std::numeric_limits<std::uint64_t>::max() - align) throw std::bad_alloc();
  const std::uint64_t rounded = (bytes + align - 1) / align * align;
  memory_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(align, rounded ? rounded : align)));
  if (!memory_) throw std::bad_alloc();
  if (large) madvise(memory_.get(), rounded, MADV_HUGEPAGE);  // advice only; failure is harmless
}

}  // namespace neffld
