// SPDX-License-Identifier: MIT
// Other processes that use the device under test. Their user pointers are this process's: rows hand
// them the same structs and buffers as their own calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client.hpp"
#include "neffld/sim_control.hpp"

namespace neffld::cts {

/// A process with descriptors of the device. Its end, by `exit` or the destructor, closes what it
/// left open, as the end of a process does.
class Process {
 public:
  virtual ~Process() = default;

  /// The number the driver knows it by.
  virtual std::int32_t id() const = 0;
  /// open(2) of the device: a descriptor or a negative errno.
  virtual int open(Access access) = 0;
  /// dup(2): a descriptor or a negative errno.
  virtual int dup(int descriptor) = 0;
  /// close(2).
  virtual int close(int descriptor) = 0;
  /// A child that has inherited every descriptor, under the same numbers; null if there can be
  /// none.
  virtual std::unique_ptr<Process> fork() = 0;
  virtual void exit() = 0;

  virtual int ioctl(int descriptor, std::uint32_t command, void* argument) = 0;
  virtual Result<void*> mmap(int descriptor, std::uint64_t offset, std::uint64_t length,
                             bool writable) = 0;
  virtual void munmap(void* address, std::uint64_t length) = 0;

  /// Typed calls through a descriptor of this process, which stays its owner and must outlive them.
  Client client(int descriptor);
};

/// Whether this process may store to a mapped address.
bool is_writable(const void* address);

/// A process of the in-process device: a number of its own and a table of descriptors.
std::unique_ptr<Process> start_sim_process(std::shared_ptr<SimDevice> device);
/// A real process, which shares this one's memory and nothing else. Errors: none can be made.
Result<std::unique_ptr<Process>> start_node_process(const std::string& path);

}  // namespace neffld::cts
