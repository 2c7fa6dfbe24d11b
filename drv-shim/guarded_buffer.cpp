// SPDX-License-Identifier: MIT
#include "guarded_buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace neffld::shim {
namespace {

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

tl::unexpected<Error> no_memory(std::uint64_t bytes) {
  return fail(Status::fail_host_mem_alloc, ErrorClass::resource, {},
              fmt::format("cannot map {} bytes for a buffer: {}", bytes, std::strerror(errno)));
}

}  // namespace

GuardedBuffer::~GuardedBuffer() {
  release();
}

void GuardedBuffer::release() noexcept {
  if (base_ != nullptr) ::munmap(base_, usable_ + page_size());
  base_ = nullptr;
}

Result<MutableBytes> GuardedBuffer::zeros(std::uint64_t bytes) {
  constexpr std::uint64_t keep = 4u << 20;  // larger ones are mapped anew, which also clears them
  const std::uint64_t page = page_size();
  if (bytes > std::numeric_limits<std::uint64_t>::max() - 2 * page) return no_memory(bytes);
  const std::uint64_t whole = std::max(page, (bytes + page - 1) / page * page);
  if (base_ == nullptr || usable_ < whole || whole > keep || usable_ > keep) {
    release();
    void* fresh = ::mmap(nullptr, whole + page, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) return no_memory(bytes);
    base_ = static_cast<std::uint8_t*>(fresh);
    usable_ = whole;
    if (mprotect(base_, usable_, PROT_READ | PROT_WRITE) != 0) return no_memory(bytes);
  } else {
    std::memset(base_ + (usable_ - bytes), 0, bytes);
  }
  return MutableBytes(base_ + (usable_ - bytes), bytes);
}

Result<std::uint64_t> GuardedBuffer::unmapped() {
  NEFFLD_TRY(zeros(0));
  return reinterpret_cast<std::uintptr_t>(base_ + usable_);
}

}  // namespace neffld::shim
