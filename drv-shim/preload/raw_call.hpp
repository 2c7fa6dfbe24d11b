// SPDX-License-Identifier: MIT
// System calls of the library's own: not through the C library, whose functions it stands in front
// of, and without cancellation points or errno.
#pragma once

#include <sys/syscall.h>

#include <type_traits>

namespace neffld::shim {

inline long raw_call6(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
#else
#error "libneuron_shim.so knows the system calls of x86-64 and aarch64 only"
#endif
}

template <class T>
long word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}
inline long word(decltype(nullptr)) {
  return 0;
}

/// The result, or a negative errno.
template <class... Words>
long raw_call(long number, Words... words) {
  const long all[6] = {word(words)...};
  return raw_call6(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}

}  // namespace neffld::shim
