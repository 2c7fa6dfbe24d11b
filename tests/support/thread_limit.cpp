// SPDX-License-Identifier: MIT
#include "thread_limit.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace neffld::test {
namespace {

std::atomic<unsigned> failing = 0, started = 0;

}  // namespace

void fail_thread(unsigned nth) {
  started = 0;
  failing = nth;
}

unsigned started_threads() {
  return started;
}

}  // namespace neffld::test

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// The program's own definition comes before the C library's wherever a library looks it up.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  unsigned wanted = neffld::test::failing;
  if (wanted != 0 && neffld::test::started + 1 == wanted &&
      neffld::test::failing.compare_exchange_strong(wanted, 0)) {
    return EAGAIN;
  }
  ++neffld::test::started;
  return real(thread, attributes, body, argument);
}
