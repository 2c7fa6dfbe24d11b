// SPDX-License-Identifier: MIT
#include "arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "neffld/huge_pages.hpp"

namespace neffld {
namespace {

constexpr std::size_t page_bytes = 4096;

tl::unexpected<Error> no_memory(std::size_t bytes) {
  return fail(
      Status::resource, ErrorClass::resource, {},
      fmt::format("no address space for {} inflated bytes: {}", bytes, host_memory_exhausted));
}

}  // namespace

Arena::Arena(Arena&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this != &other) {
    release();
    base_ = std::exchange(other.base_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

Arena::~Arena() {
  release();
}

void Arena::release() {
  if (base_ != nullptr) munmap(base_, capacity_);
  base_ = nullptr;
  capacity_ = 0;
}

Result<Arena> Arena::reserve(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) {
    return no_memory(bytes);
  }
  // Even one huge page for a small archive is cheaper than its small faults.
  const std::size_t capacity = in_huge_pages(bytes == 0 ? 1 : bytes);
  std::uint8_t* base = map_huge_pages(capacity);
  if (base == nullptr) return no_memory(capacity);
  return Arena(base, capacity);
}

Result<void> Arena::grow() {
  if (capacity_ > std::numeric_limits<std::size_t>::max() / 4) {
    return no_memory(capacity_);
  }
  void* moved = mremap(base_, capacity_, capacity_ * 2, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return no_memory(capacity_ * 2);
  base_ = static_cast<std::uint8_t*>(moved);
  capacity_ *= 2;
  return {};
}

void Arena::trim(std::size_t used) {
  const std::size_t keep =
      (std::max<std::size_t>(used, 1) + page_bytes - 1) / page_bytes * page_bytes;
  if (keep >= capacity_) return;
  munmap(base_ + keep, capacity_ - keep);
  capacity_ = keep;
}

}  // namespace neffld
