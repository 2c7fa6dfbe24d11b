// SPDX-License-Identifier: MIT
// Wrappers of open(2) and its variants, of close(2) and of what makes and ends descriptors.
#include "file_calls.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "link.hpp"
#include "names.hpp"
#include "next.hpp"
#include "raw_call.hpp"
#include "session.hpp"

using namespace neffld::shim;

namespace neffld::shim {

long open_node(unsigned device, int flags) {
  if (flags & O_DIRECTORY) return -ENOTDIR;
  if ((flags & O_CREAT) && (flags & O_EXCL)) return -EEXIST;
  Request request;
  request.ask = Ask::open;
  request.device = device;
  request.flags = static_cast<std::uint32_t>(flags);
  Reply reply;
  const long result = served(ask_session(session().folder, request, &reply));
  if (result != 0) return result;
  if (reply.descriptor < 0) return -EMFILE;  // it was sent, this process had no room for it
  note_devices();
  // open(2) gives the lowest number there is, which the talk with the server has used.
  const long lowest = raw_call(SYS_fcntl, reply.descriptor, F_DUPFD_CLOEXEC, 0);
  if (lowest >= 0 && lowest < reply.descriptor) {
    raw_call(SYS_close, reply.descriptor);
    reply.descriptor = static_cast<int>(lowest);
  } else if (lowest >= 0) {
    raw_call(SYS_close, lowest);
  }
  if (!(flags & O_CLOEXEC)) raw_call(SYS_fcntl, reply.descriptor, F_SETFD, 0);
  if (flags & O_NONBLOCK) raw_call(SYS_fcntl, reply.descriptor, F_SETFL, O_NONBLOCK);
  return reply.descriptor;
}

namespace {

/// Whether another descriptor of this process is the same open file, outside a range.
bool has_another(int descriptor, unsigned first, unsigned last) {
  struct Entry {
    unsigned long inode;
    long offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  alignas(Entry) char room[2048];
  const long folder =
      raw_call(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  bool found = false;
  long got = 0;
  while (!found && (got = raw_call(SYS_getdents64, folder, room, sizeof room)) > 0) {
    for (long at = 0; at < got && !found;) {
      const auto* entry = reinterpret_cast<const Entry*>(room + at);
      at += entry->length;
      const char* name =
          room + (reinterpret_cast<const char*>(entry) - room) + offsetof(Entry, name);
      if (*name == '.') continue;
      const int other = static_cast<int>(strtol(name, nullptr, 10));
      const auto number = static_cast<unsigned>(other);
      if (other != descriptor && (number < first || number > last)) {
        found = is_same_file(descriptor, other);
      }
    }
  }
  raw_call(SYS_close, folder);
  return found;
}

void tell_close(int descriptor, unsigned first, unsigned last) {
  const int error = errno;
  Request request;
  request.ask = Ask::close;
  request.last = !has_another(descriptor, first, last);
  ask_file(descriptor, request);
  errno = error;
}

}  // namespace

void before_close(int descriptor) {
  if (is_device(descriptor)) {
    const auto number = static_cast<unsigned>(descriptor);
    tell_close(descriptor, number, number);
  }
}

void before_close_range(unsigned first, unsigned last) {
  constexpr unsigned looked_at = 4096;
  const unsigned end = last < looked_at ? last : looked_at;
  for (unsigned descriptor = first; descriptor <= end; ++descriptor) {
    const int number = static_cast<int>(descriptor);
    // Those before are as good as closed.
    if (is_device(number)) tell_close(number, first, descriptor);
  }
}

}  // namespace neffld::shim

namespace {

/// A real device behind a link, on a machine that has some.
bool is_hidden_device(int descriptor) {
  return !session().pass_through && real_node(descriptor) >= 0;
}

/// open(2) behind everything: `real` opens a path of the system.
template <class Real>
int open_with(int folder, const char* path, int flags, Real real) {
  Name name;
  switch (look_up(folder, path, name)) {
    case Kind::node:
      return told(open_node(name.device, flags));
    case Kind::gone:
      errno = ENOENT;
      return -1;
    case Kind::tree:
      note_tree_folder();
      return real(AT_FDCWD, name.path);
    case Kind::other:
      break;
  }
  const int descriptor = real(folder, path);
  if (descriptor >= 0 && is_hidden_device(descriptor)) {
    raw_call(SYS_close, descriptor);
    errno = ENOENT;
    return -1;
  }
  return descriptor;
}

mode_t mode_of(int flags, va_list words) {
  // Read only if there: O_TMPFILE has bits of O_DIRECTORY.
  const bool given = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return given ? va_arg(words, mode_t) : 0;
}

int open_mode(const char* path, int flags, mode_t mode) {
  return open_with(AT_FDCWD, path, flags, [&](int, const char* real) {
    return NEXT(open, int(const char*, int, ...))(real, flags, mode);
  });
}

int openat_mode(int folder, const char* path, int flags, mode_t mode) {
  return open_with(folder, path, flags, [&](int from, const char* real) {
    return NEXT(openat, int(int, const char*, int, ...))(from, real, flags, mode);
  });
}

}  // namespace

// --- open

extern "C" int shim_open(const char* path, int flags, ...) STANDS_FOR(open);
ALSO_FOR(int shim_open64(const char* path, int flags, ...), open64, open);

int shim_open(const char* path, int flags, ...) {
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  return open_mode(path, flags, mode);
}

extern "C" int shim_openat(int folder, const char* path, int flags, ...) STANDS_FOR(openat);
ALSO_FOR(int shim_openat64(int folder, const char* path, int flags, ...), openat64, openat);

int shim_openat(int folder, const char* path, int flags, ...) {
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  return openat_mode(folder, path, flags, mode);
}

// What _FORTIFY_SOURCE makes of calls without a mode.
extern "C" int shim_open_2(const char* path, int flags) STANDS_FOR(__open_2);
ALSO_FOR(int shim_open64_2(const char* path, int flags), __open64_2, __open_2);

int shim_open_2(const char* path, int flags) {
  return open_mode(path, flags, 0);
}

extern "C" int shim_openat_2(int folder, const char* path, int flags) STANDS_FOR(__openat_2);
ALSO_FOR(int shim_openat64_2(int folder, const char* path, int flags), __openat64_2, __openat_2);

int shim_openat_2(int folder, const char* path, int flags) {
  return openat_mode(folder, path, flags, 0);
}

extern "C" int shim_creat(const char* path, mode_t mode) STANDS_FOR(creat);
ALSO_FOR(int shim_creat64(const char* path, mode_t mode), creat64, creat);

int shim_creat(const char* path, mode_t mode) {
  return open_mode(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

// --- close, dup

extern "C" int shim_close(int descriptor) STANDS_FOR(close);
int shim_close(int descriptor) {
  before_close(descriptor);
  return NEXT(close, int(int))(descriptor);
}

extern "C" int shim_close_range(unsigned first, unsigned last, int flags) STANDS_FOR(close_range);
int shim_close_range(unsigned first, unsigned last, int flags) {
  // With flags nothing closes now, or another table is meant.
  if (flags == 0) before_close_range(first, last);
  return told(raw_call(SYS_close_range, first, last, flags));
}

extern "C" void shim_closefrom(int first) STANDS_FOR(closefrom);
void shim_closefrom(int first) {
  before_close_range(first < 0 ? 0 : static_cast<unsigned>(first), ~0u);
  NEXT(closefrom, void(int))(first);
}

extern "C" int shim_dup2(int from, int to) STANDS_FOR(dup2);
int shim_dup2(int from, int to) {
  if (from != to && raw_call(SYS_fcntl, from, F_GETFD) >= 0) before_close(to);
  return NEXT(dup2, int(int, int))(from, to);
}

extern "C" int shim_dup3(int from, int to, int flags) STANDS_FOR(dup3);
int shim_dup3(int from, int to, int flags) {
  if (from != to && raw_call(SYS_fcntl, from, F_GETFD) >= 0) before_close(to);
  return NEXT(dup3, int(int, int, int))(from, to, flags);
}

extern "C" int shim_fcntl(int descriptor, int command, ...) STANDS_FOR(fcntl);
ALSO_FOR(int shim_fcntl64(int descriptor, int command, ...), fcntl64, fcntl);

int shim_fcntl(int descriptor, int command, ...) {
  va_list words;
  va_start(words, command);
  void* argument = va_arg(words, void*);
  va_end(words);
  const int result = NEXT(fcntl, int(int, int, ...))(descriptor, command, argument);
  DeviceDescriptor device;
  if (command != F_GETFL || result < 0 || !is_device(descriptor, &device)) return result;
  // The socket is open for both; status flags are its own.
  constexpr int kept = O_APPEND | O_DIRECT | O_NOATIME | O_SYNC | O_ACCMODE;
  return (result & ~O_ACCMODE) | (static_cast<int>(device.flags) & kept);
}

// The descriptor is always ready for reading and writing, which poll(2) then tells by itself, but
// the driver cannot wake anybody.
extern "C" int shim_epoll_ctl(int epoll, int operation, int descriptor, void* event)
    STANDS_FOR(epoll_ctl);
int shim_epoll_ctl(int epoll, int operation, int descriptor, void* event) {
  if (has_devices() && is_device(descriptor)) {
    errno = EPERM;
    return -1;
  }
  return NEXT(epoll_ctl, int(int, int, int, void*))(epoll, operation, descriptor, event);
}
