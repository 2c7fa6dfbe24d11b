// SPDX-License-Identifier: MIT
#include "new_failure.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace neffld::test {
namespace {

NewFailure wanted;
CallStack where;
std::atomic<bool> armed = false, hit = false;
std::atomic<std::uint64_t> counted = 0;
thread_local bool looking = false;  // what looks at an allocation allocates itself

bool is_inside(const char* name) {
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) == 0 || info.dli_sname == nullptr) continue;
    int status = 0;
    char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    const bool found = std::strstr(plain != nullptr ? plain : info.dli_sname, name) != nullptr;
    std::free(plain);
    if (found) return true;
  }
  return false;
}

bool strikes() {
  if (!armed || looking) return false;
  looking = true;
  bool now = false;
  if ((wanted.inside.empty() || is_inside(wanted.inside.c_str())) && ++counted == wanted.nth) {
    armed = false;
    where.take();
    hit = now = true;
    if (wanted.on_strike) wanted.on_strike();
  }
  looking = false;
  return now;
}

void* allocate(std::size_t size, std::size_t align) {
  if (strikes()) return nullptr;
  if (size == 0) size = 1;
  return align <= alignof(std::max_align_t)
             ? std::malloc(size)
             : std::aligned_alloc(align, (size + align - 1) / align * align);
}

}  // namespace

FailingNew::FailingNew(NewFailure failure) {
  void* frame[1];
  backtrace(frame, 1);  // loads what it needs before anything is armed
  wanted = std::move(failure);
  counted = 0;
  hit = false;
  armed = true;
}

FailingNew::~FailingNew() {
  armed = false;
  wanted = {};
}

bool FailingNew::struck() const {
  return hit;
}
std::uint64_t FailingNew::seen() const {
  return counted;
}
std::vector<std::string> FailingNew::frames() const {
  return where.names();
}

void CallStack::take() noexcept {
  count_ = backtrace(frames_, depth);
}

std::vector<std::string> CallStack::names() const {
  std::vector<std::string> names;
  for (int i = 0; i < count_; ++i) {
    Dl_info info{};
    if (dladdr(frames_[i], &info) == 0 || info.dli_sname == nullptr) continue;
    int status = 0;
    char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    names.emplace_back(plain != nullptr ? plain : info.dli_sname);
    std::free(plain);
  }
  return names;
}

static void* checked(std::size_t size, std::size_t align) {
  void* memory = allocate(size, align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace neffld::test

constexpr std::size_t plain = alignof(std::max_align_t);

void* operator new(std::size_t size) {
  return neffld::test::checked(size, plain);
}
void* operator new[](std::size_t size) {
  return neffld::test::checked(size, plain);
}
void* operator new(std::size_t size, std::align_val_t align) {
  return neffld::test::checked(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return neffld::test::checked(size, static_cast<std::size_t>(align));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return neffld::test::allocate(size, plain);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return neffld::test::allocate(size, plain);
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
