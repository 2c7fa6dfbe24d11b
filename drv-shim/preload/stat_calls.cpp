// SPDX-License-Identifier: MIT
// Wrappers of what asks about paths and descriptors: stat, access, readlink, realpath.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file_calls.hpp"
#include "link.hpp"
#include "names.hpp"
#include "next.hpp"
#include "protocol.hpp"
#include "raw_call.hpp"
#include "session.hpp"

using namespace neffld::shim;

namespace neffld::shim {

void fill_stat(unsigned device, struct stat* out) {
  struct stat folder {};
  raw_call(SYS_newfstatat, AT_FDCWD, "/dev", &folder, 0);
  *out = {};
  out->st_dev = folder.st_dev;
  out->st_ino = 1000000 + device;
  out->st_mode = S_IFCHR | 0666;
  out->st_nlink = 1;
  out->st_rdev = makedev(node_major, device);
  out->st_blksize = 4096;
  out->st_atim = out->st_mtim = out->st_ctim = folder.st_ctim;
}

void fill_statx(unsigned device, struct statx* out) {
  struct stat status;
  fill_stat(device, &status);
  *out = {};
  out->stx_mask = STATX_BASIC_STATS;
  out->stx_blksize = 4096;
  out->stx_nlink = 1;
  out->stx_mode = static_cast<std::uint16_t>(status.st_mode);
  out->stx_ino = status.st_ino;
  out->stx_rdev_major = node_major;
  out->stx_rdev_minor = device;
  out->stx_dev_major = major(status.st_dev);
  out->stx_dev_minor = minor(status.st_dev);
  out->stx_mtime.tv_sec = out->stx_ctime.tv_sec = out->stx_atime.tv_sec = status.st_ctim.tv_sec;
}

}  // namespace neffld::shim

namespace {

int failed(int error) {
  errno = error;
  return -1;
}

/// Answers for a path: `fill` for a node, `real(folder, path)` for one of the system.
template <class Fill, class Real>
int about_path(int folder, const char* path, Fill fill, Real real) {
  Name name;
  switch (look_up(folder, path, name)) {
    case Kind::node:
      return fill(name.device);
    case Kind::gone:
      return failed(ENOENT);
    case Kind::tree:
      return real(AT_FDCWD, name.path);
    case Kind::other:
      break;
  }
  return real(folder, path);
}

int stat_at(int folder, const char* path, struct stat* out, int flags) {
  DeviceDescriptor device;
  if ((flags & AT_EMPTY_PATH) && path != nullptr && *path == 0 && has_devices() &&
      is_device(folder, &device)) {
    fill_stat(device.device, out);
    return 0;
  }
  return about_path(
      folder, path,
      [&](unsigned index) {
        fill_stat(index, out);
        return 0;
      },
      [&](int from, const char* real) {
        return NEXT(fstatat, int(int, const char*, struct stat*, int))(from, real, out, flags);
      });
}

int stat_descriptor(int descriptor, struct stat* out) {
  DeviceDescriptor device;
  if (has_devices() && is_device(descriptor, &device)) {
    fill_stat(device.device, out);
    return 0;
  }
  return told(raw_call(SYS_fstat, descriptor, out));
}

int access_at(int folder, const char* path, int mode, int flags) {
  return about_path(
      folder, path, [&](unsigned) { return mode & X_OK ? failed(EACCES) : 0; },
      [&](int from, const char* real) {
        return NEXT(faccessat, int(int, const char*, int, int))(from, real, mode, flags);
      });
}

}  // namespace

// --- stat. struct stat64 is struct stat where the library works.

extern "C" int shim_stat(const char* path, struct stat* out) STANDS_FOR(stat);
ALSO_FOR(int shim_stat64(const char* path, struct stat* out), stat64, stat);
int shim_stat(const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, 0);
}

extern "C" int shim_lstat(const char* path, struct stat* out) STANDS_FOR(lstat);
ALSO_FOR(int shim_lstat64(const char* path, struct stat* out), lstat64, lstat);
int shim_lstat(const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

extern "C" int shim_fstat(int descriptor, struct stat* out) STANDS_FOR(fstat);
ALSO_FOR(int shim_fstat64(int descriptor, struct stat* out), fstat64, fstat);
int shim_fstat(int descriptor, struct stat* out) {
  return stat_descriptor(descriptor, out);
}

extern "C" int shim_fstatat(int folder, const char* path, struct stat* out, int flags)
    STANDS_FOR(fstatat);
ALSO_FOR(int shim_fstatat64(int folder, const char* path, struct stat* out, int flags), fstatat64,
         fstatat);
int shim_fstatat(int folder, const char* path, struct stat* out, int flags) {
  return stat_at(folder, path, out, flags);
}

// Programs linked against a C library before 2.33 call these; the number is the struct's version.
extern "C" int shim_xstat(int version, const char* path, struct stat* out) STANDS_FOR(__xstat);
ALSO_FOR(int shim_xstat64(int version, const char* path, struct stat* out), __xstat64, __xstat);
int shim_xstat(int /*version*/, const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, 0);
}

extern "C" int shim_lxstat(int version, const char* path, struct stat* out) STANDS_FOR(__lxstat);
ALSO_FOR(int shim_lxstat64(int version, const char* path, struct stat* out), __lxstat64, __lxstat);
int shim_lxstat(int /*version*/, const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

extern "C" int shim_fxstat(int version, int descriptor, struct stat* out) STANDS_FOR(__fxstat);
ALSO_FOR(int shim_fxstat64(int version, int descriptor, struct stat* out), __fxstat64, __fxstat);
int shim_fxstat(int /*version*/, int descriptor, struct stat* out) {
  return stat_descriptor(descriptor, out);
}

extern "C" int shim_fxstatat(int version, int folder, const char* path, struct stat* out, int flags)
    STANDS_FOR(__fxstatat);
ALSO_FOR(int shim_fxstatat64(int version, int folder, const char* path, struct stat* out,
                             int flags),
         __fxstatat64, __fxstatat);
int shim_fxstatat(int /*version*/, int folder, const char* path, struct stat* out, int flags) {
  return stat_at(folder, path, out, flags);
}

extern "C" int shim_statx(int folder, const char* path, int flags, unsigned mask, struct statx* out)
    STANDS_FOR(statx);
int shim_statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) {
  DeviceDescriptor device;
  if ((flags & AT_EMPTY_PATH) && (path == nullptr || *path == 0) && has_devices() &&
      is_device(folder, &device)) {
    fill_statx(device.device, out);
    return 0;
  }
  return about_path(
      folder, path,
      [&](unsigned index) {
        fill_statx(index, out);
        return 0;
      },
      [&](int from, const char* real) {
        return told(raw_call(SYS_statx, from, real, flags, mask, out));
      });
}

// --- access

extern "C" int shim_faccessat(int folder, const char* path, int mode, int flags)
    STANDS_FOR(faccessat);
int shim_faccessat(int folder, const char* path, int mode, int flags) {
  return access_at(folder, path, mode, flags);
}

extern "C" int shim_access(const char* path, int mode) STANDS_FOR(access);
int shim_access(const char* path, int mode) {
  return access_at(AT_FDCWD, path, mode, 0);
}

extern "C" int shim_euidaccess(const char* path, int mode) STANDS_FOR(euidaccess);
ALSO_FOR(int shim_eaccess(const char* path, int mode), eaccess, euidaccess);
int shim_euidaccess(const char* path, int mode) {
  return access_at(AT_FDCWD, path, mode, AT_EACCESS);
}

// --- links

namespace {

/// The text of /proc/self/fd/N for a device; its length or 0.
unsigned long descriptor_link(const char* path, char* out) {
  char own[32];
  const int prefix = snprintf(own, sizeof own, "/proc/%ld/fd/", raw_call(SYS_getpid));
  const char* number = nullptr;
  if (strncmp(path, "/proc/self/fd/", 14) == 0) number = path + 14;
  if (strncmp(path, own, static_cast<size_t>(prefix)) == 0) number = path + prefix;
  DeviceDescriptor device;
  if (number == nullptr || *number < '0' || *number > '9') return 0;
  char* end = nullptr;
  const long descriptor = strtol(number, &end, 10);
  if (*end != '\0' || !is_device(static_cast<int>(descriptor), &device)) return 0;
  return node_path(device.device, out);
}

ssize_t read_link(int folder, const char* path, char* out, size_t room) {
  char text[32];
  if (const unsigned long length = has_devices() ? descriptor_link(path, text) : 0; length != 0) {
    const size_t told_bytes = length < room ? length : room;
    memcpy(out, text, told_bytes);
    return static_cast<ssize_t>(told_bytes);
  }
  Name name;
  switch (look_up(folder, path, name)) {
    case Kind::node:
      errno = EINVAL;
      return -1;
    case Kind::gone:
      errno = ENOENT;
      return -1;
    case Kind::tree:
      return told<ssize_t>(raw_call(SYS_readlinkat, AT_FDCWD, name.path, out, room));
    case Kind::other:
      break;
  }
  return told<ssize_t>(raw_call(SYS_readlinkat, folder, path, out, room));
}

char* real_path(const char* path, char* out) {
  Name name;
  switch (look_up(AT_FDCWD, path, name)) {
    case Kind::node:
      if (out == nullptr) out = static_cast<char*>(malloc(PATH_MAX));
      if (out != nullptr) node_path(name.device, out);
      return out;
    case Kind::gone:
      errno = ENOENT;
      return nullptr;
    case Kind::tree: {
      char* resolved = NEXT(realpath, char*(const char*, char*))(name.path, out);
      const char* outside = nullptr;
      if (resolved != nullptr && leave_tree(resolved, &outside)) {
        memmove(resolved, outside, strlen(outside) + 1);
      }
      return resolved;
    }
    case Kind::other:
      break;
  }
  return NEXT(realpath, char*(const char*, char*))(path, out);
}

}  // namespace

extern "C" ssize_t shim_readlink(const char* path, char* out, size_t room) STANDS_FOR(readlink);
ssize_t shim_readlink(const char* path, char* out, size_t room) {
  return read_link(AT_FDCWD, path, out, room);
}

extern "C" ssize_t shim_readlinkat(int folder, const char* path, char* out, size_t room)
    STANDS_FOR(readlinkat);
ssize_t shim_readlinkat(int folder, const char* path, char* out, size_t room) {
  return read_link(folder, path, out, room);
}

extern "C" ssize_t shim_readlink_chk(const char* path, char* out, size_t room, size_t bytes)
    STANDS_FOR(__readlink_chk);
ssize_t shim_readlink_chk(const char* path, char* out, size_t room, size_t bytes) {
  if (room > bytes) abort();
  return read_link(AT_FDCWD, path, out, room);
}

extern "C" ssize_t shim_readlinkat_chk(int folder, const char* path, char* out, size_t room,
                                       size_t bytes) STANDS_FOR(__readlinkat_chk);
ssize_t shim_readlinkat_chk(int folder, const char* path, char* out, size_t room, size_t bytes) {
  if (room > bytes) abort();
  return read_link(folder, path, out, room);
}

extern "C" char* shim_realpath(const char* path, char* out) STANDS_FOR(realpath);
char* shim_realpath(const char* path, char* out) {
  return real_path(path, out);
}

extern "C" char* shim_realpath_chk(const char* path, char* out, size_t bytes)
    STANDS_FOR(__realpath_chk);
char* shim_realpath_chk(const char* path, char* out, size_t bytes) {
  if (bytes < PATH_MAX) abort();
  return real_path(path, out);
}

extern "C" char* shim_canonicalize(const char* path) STANDS_FOR(canonicalize_file_name);
char* shim_canonicalize(const char* path) {
  return real_path(path, nullptr);
}

// --- extended attributes, which ls(1) asks for: nodes have none

namespace {

template <class Real>
ssize_t about_attributes(const char* path, int none, Real real) {
  Name name;
  switch (classify(AT_FDCWD, path, name)) {
    case Kind::node:
      return none == 0 ? 0 : failed(none);
    case Kind::gone:
      return failed(ENOENT);
    case Kind::tree:
      return told<ssize_t>(real(name.path));
    case Kind::other:
      break;
  }
  return told<ssize_t>(real(path));
}

}  // namespace

extern "C" ssize_t shim_getxattr(const char* path, const char* key, void* out, size_t room)
    STANDS_FOR(getxattr);
ssize_t shim_getxattr(const char* path, const char* key, void* out, size_t room) {
  return about_attributes(path, ENODATA, [&](const char* real) {
    return raw_call(SYS_getxattr, real, key, out, room);
  });
}

extern "C" ssize_t shim_lgetxattr(const char* path, const char* key, void* out, size_t room)
    STANDS_FOR(lgetxattr);
ssize_t shim_lgetxattr(const char* path, const char* key, void* out, size_t room) {
  return about_attributes(path, ENODATA, [&](const char* real) {
    return raw_call(SYS_lgetxattr, real, key, out, room);
  });
}

extern "C" ssize_t shim_listxattr(const char* path, char* out, size_t room) STANDS_FOR(listxattr);
ssize_t shim_listxattr(const char* path, char* out, size_t room) {
  return about_attributes(
      path, 0, [&](const char* real) { return raw_call(SYS_listxattr, real, out, room); });
}

extern "C" ssize_t shim_llistxattr(const char* path, char* out, size_t room) STANDS_FOR(llistxattr);
ssize_t shim_llistxattr(const char* path, char* out, size_t room) {
  return about_attributes(
      path, 0, [&](const char* real) { return raw_call(SYS_llistxattr, real, out, room); });
}
