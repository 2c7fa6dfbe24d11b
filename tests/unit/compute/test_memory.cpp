// SPDX-License-Identifier: MIT
#include "test_memory.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace neffld::compute::test {
namespace {

constexpr std::size_t sbuf_size = 0x200'0000, psum_size = 0x40'0000, guard = 0x10'0000;
constexpr std::size_t sbuf_step = 0x4'0000, psum_step = 0x8000;
constexpr std::size_t map_size = guard + sbuf_size + guard + psum_size + guard;

}  // namespace

TestMemory::TestMemory(std::size_t sbuf_bytes, std::size_t psum_bytes) {
  void* map =
      mmap(nullptr, map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  map_ = static_cast<std::uint8_t*>(map);
  sbuf_ = map_ + guard;
  psum_ = sbuf_ + sbuf_size + guard;
  for (std::size_t p = 0; p < partitions; ++p) {
    if (mprotect(partition(false, p), sbuf_bytes, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(partition(true, p), psum_bytes, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
  }
}

TestMemory::~TestMemory() {
  munmap(map_, map_size);
}

std::uint8_t* TestMemory::partition(bool psum, std::size_t number) const {
  return psum ? psum_ + number * psum_step : sbuf_ + number * sbuf_step;
}

void TestMemory::put(const Windows& windows) {
  for (std::size_t p = 0; p < partitions; ++p) {
    std::memcpy(partition(false, p), &windows.sbuf[p * window], window);
    std::memcpy(partition(true, p), &windows.psum[p * window], window);
  }
}

void TestMemory::get(Windows& windows) const {
  for (std::size_t p = 0; p < partitions; ++p) {
    std::memcpy(&windows.sbuf[p * window], partition(false, p), window);
    std::memcpy(&windows.psum[p * window], partition(true, p), window);
  }
}

std::size_t TestMemory::difference(const Windows& windows) const {
  std::size_t differ = 0;
  for (std::size_t p = 0; p < partitions; ++p) {
    for (const bool psum : {false, true}) {
      const std::uint8_t* here = partition(psum, p);
      const std::uint8_t* there = &(psum ? windows.psum : windows.sbuf)[p * window];
      if (std::memcmp(here, there, window) == 0) continue;
      for (std::size_t i = 0; i < window; ++i) differ += here[i] != there[i];
    }
  }
  return differ;
}

}  // namespace neffld::compute::test
