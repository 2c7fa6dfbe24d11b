// SPDX-License-Identifier: MIT
#include "replaced_new.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t size, std::size_t align) noexcept {
  if (neffld::test::refuse_new()) return nullptr;
  if (size == 0) size = 1;
  return align <= alignof(std::max_align_t)
             ? std::malloc(size)
             : std::aligned_alloc(align, (size + align - 1) / align * align);
}

void* checked(std::size_t size, std::size_t align) {
  void* memory = allocate(size, align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t plain = alignof(std::max_align_t);

}  // namespace

// All forms: the library's own nothrow forms call the others, but a sanitizer replaces each.
void* operator new(std::size_t size) {
  return checked(size, plain);
}
void* operator new[](std::size_t size) {
  return checked(size, plain);
}
void* operator new(std::size_t size, std::align_val_t align) {
  return checked(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return checked(size, static_cast<std::size_t>(align));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, plain);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, plain);
}
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
