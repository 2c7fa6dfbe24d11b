// SPDX-License-Identifier: MIT
#include "new_failure.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "replaced_new.hpp"

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

bool strikes() noexcept {
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

bool refuse_new() noexcept {
  return strikes();
}

}  // namespace neffld::test
