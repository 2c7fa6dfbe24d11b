// SPDX-License-Identifier: MIT
// syscall(2): programs that go past the C library's functions, but not past this one.
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "file_calls.hpp"
#include "names.hpp"
#include "next.hpp"
#include "raw_call.hpp"

namespace {

template <class T>
T as(long value) {
  return (T)value;  // a word, whatever it stands for
}

using Text = const char*;

}  // namespace

extern "C" long shim_syscall(long number, ...) STANDS_FOR(syscall);
long shim_syscall(long number, ...) {
  long w[6];
  va_list words;
  va_start(words, number);
  for (long& one : w) one = va_arg(words, long);
  va_end(words);
  const auto d = static_cast<int>(w[0]);
  switch (number) {
#ifdef SYS_open
    case SYS_open:
      return shim_openat(AT_FDCWD, as<Text>(w[0]), static_cast<int>(w[1]), as<mode_t>(w[2]));
    case SYS_stat:
      return shim_fstatat(AT_FDCWD, as<Text>(w[0]), as<struct stat*>(w[1]), 0);
    case SYS_lstat:
      return shim_fstatat(AT_FDCWD, as<Text>(w[0]), as<struct stat*>(w[1]), AT_SYMLINK_NOFOLLOW);
    case SYS_access:
      return shim_faccessat(AT_FDCWD, as<Text>(w[0]), static_cast<int>(w[1]), 0);
    case SYS_readlink:
      return shim_readlinkat(AT_FDCWD, as<Text>(w[0]), as<char*>(w[1]), as<size_t>(w[2]));
    case SYS_dup2:
      return shim_dup2(d, static_cast<int>(w[1]));
#endif
    case SYS_openat:
      return shim_openat(d, as<Text>(w[1]), static_cast<int>(w[2]), as<mode_t>(w[3]));
    case SYS_close:
      return shim_close(d);
    case SYS_close_range:
      return shim_close_range(as<unsigned>(w[0]), as<unsigned>(w[1]), static_cast<int>(w[2]));
    case SYS_dup3:
      return shim_dup3(d, static_cast<int>(w[1]), static_cast<int>(w[2]));
    case SYS_fcntl:
      return shim_fcntl(d, static_cast<int>(w[1]), w[2]);
    case SYS_ioctl:
      return shim_ioctl(d, as<unsigned long>(w[1]), w[2]);
    case SYS_mmap:
      return reinterpret_cast<long>(shim_mmap(as<void*>(w[0]), as<size_t>(w[1]),
                                              static_cast<int>(w[2]), static_cast<int>(w[3]),
                                              static_cast<int>(w[4]), w[5]));
    case SYS_munmap:
      return shim_munmap(as<void*>(w[0]), as<size_t>(w[1]));
    case SYS_read:
      return shim_read(d, as<void*>(w[1]), as<size_t>(w[2]));
    case SYS_write:
      return shim_write(d, as<const void*>(w[1]), as<size_t>(w[2]));
    case SYS_fstat:
      return shim_fstat(d, as<struct stat*>(w[1]));
    case SYS_newfstatat:
      return shim_fstatat(d, as<Text>(w[1]), as<struct stat*>(w[2]), static_cast<int>(w[3]));
    case SYS_statx:
      return shim_statx(d, as<Text>(w[1]), static_cast<int>(w[2]), as<unsigned>(w[3]),
                        as<struct statx*>(w[4]));
    case SYS_faccessat:
      return shim_faccessat(d, as<Text>(w[1]), static_cast<int>(w[2]), 0);
    case SYS_faccessat2:
      return shim_faccessat(d, as<Text>(w[1]), static_cast<int>(w[2]), static_cast<int>(w[3]));
    case SYS_readlinkat:
      return shim_readlinkat(d, as<Text>(w[1]), as<char*>(w[2]), as<size_t>(w[3]));
    case SYS_openat2: {
      const auto* how = as<const open_how*>(w[2]);
      neffld::shim::Name name;
      const bool ours =
          neffld::shim::classify(d, as<Text>(w[1]), name) != neffld::shim::Kind::other;
      if (ours && as<size_t>(w[3]) >= sizeof *how) {
        return shim_openat(d, as<Text>(w[1]), static_cast<int>(how->flags),
                           static_cast<mode_t>(how->mode));
      }
      break;
    }
    default:
      break;
  }
  return neffld::shim::told<long>(
      neffld::shim::raw_call6(number, w[0], w[1], w[2], w[3], w[4], w[5]));
}
