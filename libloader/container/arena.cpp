// SPDX-License-Identifier: MIT
#include "arena.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace neffld {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

tl::unexpected<Error> no_memory(std::size_t bytes) {
  return fail(Status::resource, ErrorClass::resource, {},
              fmt::format("no address space for {} inflated bytes: {}", bytes,
                          std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

/// Maps `bytes` (a multiple of the huge page size) at a huge page boundary.
std::uint8_t* map_aligned(std::size_t bytes) {
  void* raw = mmap(nullptr, bytes + huge_page_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* base = static_cast<std::uint8_t*>(raw);
  const std::size_t misfit = reinterpret_cast<std::uintptr_t>(base) % huge_page_bytes;
  const std::size_t head = misfit == 0 ? 0 : huge_page_bytes - misfit;
  if (head != 0) munmap(base, head);
  munmap(base + head + bytes, huge_page_bytes - head);
  return base + head;
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
    errno = ENOMEM;
    return no_memory(bytes);
  }
  const std::size_t capacity = round_up(bytes == 0 ? 1 : bytes, huge_page_bytes);
  std::uint8_t* base = map_aligned(capacity);
  if (base == nullptr) return no_memory(capacity);
  // First touch dominates inflating, and huge pages take 512 times fewer faults; even one huge page
  // for a small archive is cheaper than its small faults. Only advice: without huge pages the same
  // bytes arrive more slowly.
  madvise(base, capacity, MADV_HUGEPAGE);
  return Arena(base, capacity);
}

Result<void> Arena::grow() {
  if (capacity_ > std::numeric_limits<std::size_t>::max() / 4) {
    errno = ENOMEM;
    return no_memory(capacity_);
  }
  void* moved = mremap(base_, capacity_, capacity_ * 2, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return no_memory(capacity_ * 2);
  base_ = static_cast<std::uint8_t*>(moved);
  capacity_ *= 2;
  return {};
}

void Arena::trim(std::size_t used) {
  const std::size_t keep = round_up(used == 0 ? 1 : used, page_bytes);
  if (keep >= capacity_) return;
  munmap(base_ + keep, capacity_ - keep);
  capacity_ = keep;
}

}  // namespace neffld
