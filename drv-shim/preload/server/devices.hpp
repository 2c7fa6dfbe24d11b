// SPDX-License-Identifier: MIT
// The devices of a session and the open files of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device_compute.hpp"
#include "nds_user.h"
#include "neffld/error.hpp"
#include "protocol.hpp"
#include "remote.hpp"

namespace neffld::shim {

/// What the person who starts the session asks for.
struct SessionOptions {
  std::uint32_t architecture = 3;
  std::uint32_t count = 1;
  std::uint32_t driver_minor = 24;
  bool clean_errors = false;
  bool pass_through = false;  ///< no devices: the real nodes' calls are recorded
};

/// An open file: the server's end of the socket a program holds. It lives as long as its socket has
/// another end, and as long as a call on it lasts.
class OpenFile {
 public:
  OpenFile(nds_file* file, std::uint32_t device, std::uint32_t flags, Descriptor socket)
      : file_(file), device_(device), flags_(flags), socket_(std::move(socket)) {}
  ~OpenFile() { nds_file_release(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  nds_file* get() const { return file_; }
  int socket() const { return socket_.get(); }
  std::uint32_t device() const { return device_; }
  std::uint32_t flags() const { return flags_; }

  /// A process has used it: at its end a descriptor of the file closes.
  void hold(std::int32_t process) { holders_.insert(process); }
  /// A descriptor closes; `last`: the process has no other.
  void close(std::int32_t process, bool last);
  /// The process has ended, with whatever descriptors it had.
  void end(std::int32_t process);
  /// Every descriptor has gone, some perhaps unseen, by exec or by the end of a process.
  void end_all();

 private:
  nds_file* file_;
  std::uint32_t device_, flags_;
  Descriptor socket_;
  std::set<std::int32_t> holders_;  ///< processes that used it and still may
};

class Devices {
 public:
  /// Errors: no such architecture, count or driver (class usage or unsupported); no room.
  static Result<std::unique_ptr<Devices>> create(const SessionOptions& options);
  ~Devices();
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  const std::vector<nds_device*>& all() const { return devices_; }
  /// The module's version text of the simulated driver.
  const std::string& driver_version() const { return driver_version_; }

  /// open(2): 0 and the file with the program's end of its socket, or a negative errno.
  int open(const Request& request, std::int32_t process, std::shared_ptr<OpenFile>& file,
           Descriptor& programs_end);

 private:
  Devices() = default;

  nds_machine* machine_ = nullptr;
  std::vector<nds_device*> devices_;
  std::vector<std::unique_ptr<compute::DeviceCompute>> computes_;  ///< of each, outlive them
  std::string driver_version_;
  std::uint64_t files_ = 0;
};

}  // namespace neffld::shim
