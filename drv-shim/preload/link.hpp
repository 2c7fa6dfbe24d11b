// SPDX-License-Identifier: MIT
// The library's side of the talk with the server. No state, no locks, nothing of the C library:
// good in signal handlers, between vfork and exec and in processes that share memory.
#pragma once

#include "protocol.hpp"

namespace neffld::shim {

/// A descriptor that is an open file of a device.
struct DeviceDescriptor {
  unsigned device;
  unsigned flags;  ///< of its open(2)
};
/// Whether a descriptor is one; errno stays.
bool is_device(int descriptor, DeviceDescriptor* out = nullptr);
/// Whether two descriptors are one open file of a device.
bool is_same_file(int descriptor, int other);

/// What comes back with the result.
struct Reply {
  Message message;
  int descriptor = -1;
};

/// Makes the real call for Tell::go; its result.
using GoFunction = long (*)(void* context);

/// Sends a request through a device's descriptor and serves the server until the result is there.
/// The result or a negative errno; -EIO if the server is gone.
long ask_file(int descriptor, const Request& request, Reply* reply = nullptr);
/// The same through the session's socket in `folder`. `hello` as the server sends it.
long ask_session(const char* folder, const Request& request, Reply* reply = nullptr,
                 GoFunction go = nullptr, void* context = nullptr);
long ask_hello(const char* folder, Hello* hello);

}  // namespace neffld::shim
