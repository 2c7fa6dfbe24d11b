// SPDX-License-Identifier: MIT
// Whole files in and out.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include "descriptor.hpp"
#include "neffld/container.hpp"
#include "new_file.hpp"

namespace neffld {
namespace {

Result<std::uint64_t> regular_size(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return file_error(path, "cannot be examined", errno);
  if (S_ISDIR(info.st_mode)) return file_error(path, "is a folder, expected a file");
  if (!S_ISREG(info.st_mode)) {
    return file_error(path, "is a device, pipe or socket, expected a regular file");
  }
  return static_cast<std::uint64_t>(info.st_size);
}

/// Reads until `bytes` is full or the file ends; returns what arrived.
Result<std::size_t> read_up_to(int fd, MutableBytes bytes, const std::string& path) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error(path, "cannot be read", errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace

tl::unexpected<Error> file_error(const std::string& path, std::string_view what, int code) {
  if (code == ENOMEM) {
    return fail(Status::resource, ErrorClass::resource, Where{path, "", std::nullopt, std::nullopt},
                fmt::format("{}: {}", what, host_memory_exhausted));
  }
  auto text = std::string(what);
  if (code != 0) text += ": " + std::generic_category().message(code);
  return fail(Status::invalid, ErrorClass::file, Where{path, "", std::nullopt, std::nullopt},
              std::move(text));
}

Result<std::string> create_hidden(const std::string& path,
                                  const std::function<bool(const std::string&)>& create) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = fmt::format(".neffld-{:08x}.tmp", random());
    if (create(name)) return name;
    if (errno != EEXIST) return file_error(path, "cannot be created", errno);
  }
  return file_error(path, "cannot be created, every temporary name is taken");
}

Result<Listing> open_listing(Descriptor fd, const std::string& path) {
  Listing listing(fdopendir(fd.get()));
  if (!listing) return file_error(path, "cannot be listed", errno);
  fd.release();  // the listing owns it now
  return listing;
}

Result<void> write_all(int fd, Bytes bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error(path, "cannot be written", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

std::uint64_t ContainerLimits::file_bytes() const {
  // Stored deflate blocks add less than 1 in 1024.
  const std::uint64_t payload = std::min(inflated_bytes, UINT64_MAX / 2);
  return payload + payload / 1024 + (1 << 20);
}

Result<std::vector<std::uint8_t>> read_regular(int fd, const std::string& path,
                                               std::uint64_t most_bytes) {
  NEFFLD_ASSIGN(const std::uint64_t size, regular_size(fd, path));
  if (size > most_bytes) {
    return fail(Status::resource, ErrorClass::resource, {.member = path},
                fmt::format("has {} bytes, the limit is {}", size, most_bytes));
  }
  std::vector<std::uint8_t> bytes(size);
  NEFFLD_ASSIGN(const std::size_t arrived, read_up_to(fd, bytes, path));
  // A writer at work: what was read is neither the old file nor the new one.
  std::uint8_t extra = 0;
  NEFFLD_ASSIGN(const std::size_t more, read_up_to(fd, {&extra, 1}, path));
  if (arrived != size || more != 0) {
    return file_error(path, fmt::format("changed while it was read: it had {} bytes when opened, "
                                        "then {}",
                                        size, more != 0 ? "more" : std::to_string(arrived)));
  }
  return bytes;
}

Result<std::vector<std::uint8_t>> read_file(const std::string& path, std::uint64_t most_bytes) {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    // O_NONBLOCK: opening a pipe nobody writes to must end in a message, not in waiting.
    const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) {
      const int code = errno;
      if (code == ENOENT) return file_error(path, "does not exist");
      if (code == EACCES) return file_error(path, "may not be read: permission denied");
      return file_error(path, "cannot be opened", code);
    }
    NEFFLD_ASSIGN(auto bytes, read_regular(fd.get(), path, most_bytes));
    if (bytes.empty()) return file_error(path, "is empty");
    return bytes;
  });
}

Result<void> check_writable(const std::string& path) {
  NEFFLD_TRY(NewFile::create(path));
  return {};
}

Result<void> write_file(const std::string& path, Bytes bytes) {
  return guarded([&]() -> Result<void> {
    NEFFLD_ASSIGN(NewFile file, NewFile::create(path));
    NEFFLD_TRY(file.append(bytes));
    return file.finish();
  });
}

}  // namespace neffld
