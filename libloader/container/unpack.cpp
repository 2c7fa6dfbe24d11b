// SPDX-License-Identifier: MIT
// Writing the members of a NEFF under a folder.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "descriptor.hpp"
#include "member_name.hpp"
#include "neffld/container.hpp"

namespace neffld {
namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Result<void> check_empty(int fd, const std::string& path) {
  // A second descriptor, because closing a listing closes its descriptor.
  Descriptor copy(openat(fd, ".", folder_flags));
  if (!copy.valid()) return file_error(path, "cannot be listed", errno);
  NEFFLD_ASSIGN(const Listing listing, open_listing(std::move(copy), path));
  errno = 0;
  while (const dirent* item = readdir(listing.get())) {
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") {
      return file_error(path, "is not empty; unpacking needs an empty or absent folder");
    }
  }
  if (errno != 0) return file_error(path, "cannot be listed", errno);
  return {};
}

Result<Descriptor> open_target(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return file_error(path, "cannot be created", errno);
  }
  // The folder itself may be reached through a link: it is the caller's choice, not the archive's.
  Descriptor fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return file_error(path, "cannot be opened as a folder", errno);
  NEFFLD_TRY(check_empty(fd.get(), path));
  return fd;
}

Result<Descriptor> enter(int parent, const std::string& name, const std::string& path) {
  if (mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) {
    return file_error(path, "cannot be created", errno);
  }
  Descriptor fd(openat(parent, name.c_str(), folder_flags));
  if (!fd.valid()) return file_error(path, "cannot be entered", errno);
  return fd;
}

/// One component at a time, never through a link, never over an existing file.
Result<void> write_member(int folder, const Member& member, const std::string& root) {
  const std::string path = root + "/" + printable_name(member.name);
  Descriptor inner;
  int parent = folder;
  std::string_view rest = member.name;
  for (auto slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    NEFFLD_ASSIGN(inner, enter(parent, std::string(rest.substr(0, slash)), path));
    parent = inner.get();
    rest.remove_prefix(slash + 1);
  }
  Descriptor file(openat(parent, std::string(rest).c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.valid()) return file_error(path, "cannot be created", errno);
  NEFFLD_TRY(write_all(file.get(), member.bytes, path));
  if (!file.close()) return file_error(path, "cannot be written", errno);
  return {};
}

}  // namespace

Result<void> unpack_neff(const Container& container, const std::string& folder) {
  return guarded([&]() -> Result<void> {
    // All names before the first file, so that a bad name leaves nothing behind.
    for (const Member& member : container.members()) {
      if (const auto problem = unpack_problem(member.name)) {
        return invalid(Where{printable_name(member.name), "", std::nullopt, std::nullopt},
                       *problem);
      }
    }
    NEFFLD_ASSIGN(const Descriptor target, open_target(folder));
    for (const Member& member : container.members()) {
      NEFFLD_TRY(write_member(target.get(), member, folder));
    }
    return {};
  });
}

}  // namespace neffld
