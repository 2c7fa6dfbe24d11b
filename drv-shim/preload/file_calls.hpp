// SPDX-License-Identifier: MIT
// What the wrappers do, for other wrappers and for syscall(2).
#pragma once

#include <sys/types.h>

#include "next.hpp"

struct stat;
struct statx;

namespace neffld::shim {

/// open(2) of a node: a descriptor or a negative errno.
long open_node(unsigned device, int flags);
/// Tells the server that a descriptor of a device is about to go.
void before_close(int descriptor);
/// The same for all from `first` to `last`.
void before_close_range(unsigned first, unsigned last);

/// What the driver answers to reading and writing: a negative errno.
long no_reading(int descriptor);
long no_writing(int descriptor);

void fill_stat(unsigned device, struct stat* out);
void fill_statx(unsigned device, struct statx* out);

}  // namespace neffld::shim

// The wrappers; see next.hpp for their names.
extern "C" {
int shim_openat(int folder, const char* path, int flags, ...) STANDS_FOR(openat);
int shim_close(int descriptor) STANDS_FOR(close);
int shim_dup2(int from, int to) STANDS_FOR(dup2);
int shim_dup3(int from, int to, int flags) STANDS_FOR(dup3);
int shim_close_range(unsigned first, unsigned last, int flags) STANDS_FOR(close_range);
int shim_fcntl(int descriptor, int command, ...) STANDS_FOR(fcntl);
int shim_ioctl(int descriptor, unsigned long command, ...) STANDS_FOR(ioctl);
void* shim_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                off_t offset) STANDS_FOR(mmap);
int shim_munmap(void* address, size_t length) STANDS_FOR(munmap);
ssize_t shim_read(int descriptor, void* bytes, size_t length) STANDS_FOR(read);
ssize_t shim_write(int descriptor, const void* bytes, size_t length) STANDS_FOR(write);
int shim_fstatat(int folder, const char* path, struct stat* out, int flags) STANDS_FOR(fstatat);
int shim_fstat(int descriptor, struct stat* out) STANDS_FOR(fstat);
int shim_statx(int folder, const char* path, int flags, unsigned mask, struct statx* out)
    STANDS_FOR(statx);
int shim_faccessat(int folder, const char* path, int mode, int flags) STANDS_FOR(faccessat);
ssize_t shim_readlinkat(int folder, const char* path, char* out, size_t room)
    STANDS_FOR(readlinkat);
}
