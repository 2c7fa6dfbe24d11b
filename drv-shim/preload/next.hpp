// SPDX-License-Identifier: MIT
// Standing in front of a function of the C library, and calling it.
#pragma once

#include <dlfcn.h>
#include <errno.h>

/// Gives a definition of ours the name of a function of the C library. Ours have names of their
/// own, so that the headers' attributes and inline forms do not get in the way.
#define STANDS_FOR(name) __asm__(#name) __attribute__((visibility("default")))

/// A second name of a function that STANDS_FOR `name` in the same file.
#define ALSO_FOR(declaration, other, name) \
  extern "C" declaration __asm__(#other) __attribute__((alias(#name), visibility("default")))

/// The function behind ours: that of the C library, or of another preloaded library. Looked up at
/// the first call; two threads that look at once find the same.
#define NEXT(name, ...)                                                                 \
  ([] {                                                                                 \
    using Function = __VA_ARGS__;                                                       \
    static Function* found;                                                             \
    if (found == nullptr) found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, #name)); \
    return found;                                                                       \
  }())

namespace neffld::shim {

/// As the C library tells the result of a system call.
template <class T = int>
T told(long result) {
  if (result >= 0 || result < -4095) return static_cast<T>(result);
  errno = static_cast<int>(-result);
  return static_cast<T>(-1);
}

}  // namespace neffld::shim
