// SPDX-License-Identifier: MIT
#include "neffld/huge_pages.hpp"

#include <sys/mman.h>

namespace neffld {

std::uint8_t* map_huge_pages(std::size_t bytes) {
  // Address space for one page more than asked for holds an aligned part of it.
  void* raw = mmap(nullptr, bytes + huge_page_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto* base = static_cast<std::uint8_t*>(raw);
  const std::size_t misfit = reinterpret_cast<std::uintptr_t>(base) % huge_page_bytes;
  const std::size_t head = misfit == 0 ? 0 : huge_page_bytes - misfit;
  if (head != 0) munmap(base, head);
  munmap(base + head + bytes, huge_page_bytes - head);
  madvise(base + head, bytes, MADV_HUGEPAGE);
  return base + head;
}

}  // namespace neffld
