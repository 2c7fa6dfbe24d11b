// SPDX-License-Identifier: MIT
#include "host_memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "fault_plan.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEFFLD_WATCH_MEMORY 0
#else
#define NEFFLD_WATCH_MEMORY 1
#endif

namespace neffld::test {
namespace {

std::atomic<std::uint64_t> blocks = 0, mapped = 0, counted = 0, wanted = 0;
std::atomic<bool> armed = false, hit = false, hit_in_device = false;

#if NEFFLD_WATCH_MEMORY
/// True if this allocation is the one that fails.
bool strikes() {
  if (!armed || ++counted != wanted) return false;
  armed = false;
  hit = true;
  hit_in_device = in_device_call();
  errno = ENOMEM;
  return true;
}

void* noted(void* memory) {
  if (memory != nullptr) ++blocks;
  return memory;
}

std::uint64_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}
#endif

}  // namespace

bool host_memory_is_watched() {
  return NEFFLD_WATCH_MEMORY;
}

HostMemory host_memory() {
  return {blocks, mapped};
}

FailingMemory::FailingMemory(std::uint64_t nth) {
  wanted = nth;
  counted = 0;
  hit = hit_in_device = false;
  armed = true;
}
FailingMemory::~FailingMemory() {
  armed = false;
}
bool FailingMemory::struck() const {
  return hit;
}
bool FailingMemory::struck_in_device() const {
  return hit_in_device;
}
std::uint64_t FailingMemory::seen() const {
  return counted;
}

}  // namespace neffld::test

#if NEFFLD_WATCH_MEMORY
// With 64-bit file offsets, as everything here is compiled, mmap is the symbol mmap64.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t align, std::size_t size);
void __libc_free(void* memory);

using neffld::test::noted;
using neffld::test::strikes;
using neffld::test::whole_pages;

void* malloc(std::size_t size) {
  return strikes() ? nullptr : noted(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) {
  return strikes() ? nullptr : noted(__libc_calloc(count, size));
}
void* realloc(void* memory, std::size_t size) {
  if (strikes()) return nullptr;
  if (memory == nullptr) return noted(__libc_malloc(size));
  if (size == 0) --neffld::test::blocks;
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t align, std::size_t size) {
  return strikes() ? nullptr : noted(__libc_memalign(align, size));
}
void* aligned_alloc(std::size_t align, std::size_t size) {
  return strikes() ? nullptr : noted(__libc_memalign(align, size));
}
int posix_memalign(void** memory, std::size_t align, std::size_t size) {
  *memory = aligned_alloc(align, size);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  if (memory != nullptr) --neffld::test::blocks;
  __libc_free(memory);
}

void* mmap(void* at, std::size_t size, int rights, int flags, int file, off_t offset) {
  if (strikes()) return MAP_FAILED;
  const long place = syscall(SYS_mmap, at, size, rights, flags, file, offset);
  // What replaces a part of a mapping adds nothing.
  if (place != -1 && (flags & MAP_FIXED) == 0) neffld::test::mapped += whole_pages(size);
  return reinterpret_cast<void*>(place);
}
void* mremap(void* at, std::size_t size, std::size_t new_size, int flags, ...) {
  if (strikes()) return MAP_FAILED;
  const long place = syscall(SYS_mremap, at, size, new_size, flags, nullptr);
  if (place != -1) neffld::test::mapped += whole_pages(new_size) - whole_pages(size);
  return reinterpret_cast<void*>(place);
}
int munmap(void* at, std::size_t size) {
  neffld::test::mapped -= whole_pages(size);
  return static_cast<int>(syscall(SYS_munmap, at, size));
}
}
#endif
