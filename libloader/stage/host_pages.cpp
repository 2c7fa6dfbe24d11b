// SPDX-License-Identifier: MIT
#include "host_pages.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "neffld/huge_pages.hpp"

namespace neffld {

void HostPages::Free::operator()(std::uint8_t* memory) const {
  if (mapped != 0) {
    munmap(memory, mapped);
  } else {
    std::free(memory);
  }
}

// Small buffers stay with the allocator: a huge page would waste most of itself. Large ones do not,
// because it keeps what is freed, and so two of them resident where one would do.
HostPages::HostPages(std::uint64_t bytes) : size_(bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) throw std::bad_alloc();
  if (bytes < huge_page_bytes / 2) {
    memory_ = {static_cast<std::uint8_t*>(std::malloc(bytes != 0 ? bytes : 1)), Free{0}};
  } else {
    const std::size_t mapped = in_huge_pages(bytes);
    memory_ = {map_huge_pages(mapped), Free{mapped}};
  }
  if (!memory_) throw std::bad_alloc();
}

}  // namespace neffld
