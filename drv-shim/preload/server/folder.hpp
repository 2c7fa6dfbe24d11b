// SPDX-License-Identifier: MIT
// The session's folder: its socket, and the devices' part of sysfs as real files and folders.
#pragma once

#include <string>
#include <vector>

#include "nds.h"
#include "neffld/error.hpp"

namespace neffld::shim {

/// Tells an error on stderr, which nobody need be able to read: what it is about, what was found,
/// what is allowed.
void tell(const Error& error);

class SessionFolder {
 public:
  static Result<SessionFolder> create();
  ~SessionFolder();
  SessionFolder(SessionFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  SessionFolder& operator=(SessionFolder&&) = delete;

  const std::string& path() const { return path_; }

  /// Writes the file a path below the folder ("/sys/...") names as the device has it now. The first
  /// call makes all files. Errors: nothing can be written (class file).
  Result<void> refresh(const std::string& path, const std::vector<nds_device*>& devices,
                       const std::string& driver_version);

 private:
  explicit SessionFolder(std::string path) : path_(std::move(path)) {}
  Result<void> make_all(const std::vector<nds_device*>& devices, const std::string& driver_version);
  Result<void> make_device(nds_device* device, std::size_t index);

  std::string path_;
  bool made_ = false;
};

}  // namespace neffld::shim
