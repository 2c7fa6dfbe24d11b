// SPDX-License-Identifier: MIT
// What a transcript is played against: the device model in this process, or device nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "script.hpp"

namespace transcripts {

struct Mapped {
  int error = 0;  ///< 0 or a negative errno
  std::uint8_t* at = nullptr;
  std::uint64_t bytes = 0;
  bool read_only = false;  ///< the driver took the permission away
};

class Host {
 public:
  virtual ~Host() = default;
  /// "module" or "in-process": which lines of the list of exceptions apply.
  virtual const char* kind() const = 0;
  /// Processes are real: a child must be forked. Otherwise be() says who calls.
  virtual bool forks() const = 0;
  /// The caller from now on. A process that was not seen before has its parent's files.
  virtual void be(char process) = 0;
  /// The caller exits without closing anything.
  virtual void exit() = 0;
  virtual std::int32_t pid() const = 0;

  /// A file or a negative errno; `flags` as of open(2).
  virtual int open(unsigned node, int flags) = 0;
  virtual int duplicate(int file) = 0;
  virtual int close(int file) = 0;
  /// The system call's result: 0, a negative errno, or the driver's own positive result.
  virtual long ioctl(int file, std::uint32_t command, std::uint64_t argument) = 0;
  /// `raw`: with the right to map any device address (CAP_SYS_RAWIO).
  virtual Mapped map(int file, std::uint64_t offset, std::uint64_t bytes, int protection,
                     bool raw) = 0;
  /// Reads, or writes back, the first byte: 0 or the signal.
  virtual int touch(const Mapped& mapping, bool write) = 0;
  /// mprotect to read and write: 0 or a negative errno. -ENOSYS where there is no such thing.
  virtual int make_writable(Mapped& mapping) = 0;
  /// What the last of `count` further processes gets that open the node and keep it open.
  virtual int crowd(unsigned node, unsigned count) = 0;
  /// From now on the device does not answer: "dma", "mailbox", "reset", "nothing" (it does).
  virtual void silence(const std::string& what) = 0;
};

std::unique_ptr<Host> in_process_host(const Script& script);
/// `prefix`: "/dev/neuron". Throws if the nodes are not those of the simulated device.
std::unique_ptr<Host> node_host(const std::string& prefix, const Script& script);

}  // namespace transcripts
