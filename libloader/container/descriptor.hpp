// SPDX-License-Identifier: MIT
// File descriptors with an owner, and errors of class file.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = other.release();
    }
    return *this;
  }
  ~Descriptor() { close(); }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  /// False, with errno set, if the last writes did not reach the file.
  bool close() { return fd_ < 0 || ::close(release()) == 0; }

 private:
  int fd_;
};

struct CloseListing {
  void operator()(DIR* listing) const { closedir(listing); }
};
/// An open folder listing, with its descriptor.
using Listing = std::unique_ptr<DIR, CloseListing>;

/// Turns a folder's descriptor into a listing. `path` is for messages.
Result<Listing> open_listing(Descriptor fd, const std::string& path);

/// An error of class file about `path`; `code` is an errno value or 0. ENOMEM is a shortage of host
/// memory instead.
tl::unexpected<Error> file_error(const std::string& path, std::string_view what, int code = 0);

/// Finds a name for something that is not finished; returns it. `create` makes it, in the folder of
/// `path`, or returns false with errno set. The name's length does not depend on that of `path`.
Result<std::string> create_hidden(const std::string& path,
                                  const std::function<bool(const std::string&)>& create);

/// Writes all bytes. `path` is for messages.
Result<void> write_all(int fd, Bytes bytes, const std::string& path);

/// Reads a regular file, which may be empty, from its start. Status::resource, before anything is
/// read, if it has more than `most_bytes`.
Result<std::vector<std::uint8_t>> read_regular(int fd, const std::string& path,
                                               std::uint64_t most_bytes);

}  // namespace neffld
