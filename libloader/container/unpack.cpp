// SPDX-License-Identifier: MIT
// Writing the members of a NEFF under a folder.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

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

/// The folder to unpack into, which is empty, or an invalid descriptor if it is absent.
Result<Descriptor> open_target(const std::string& path) {
  // The folder itself may be reached through a link: it is the caller's choice, not the archive's.
  Descriptor fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) {
    NEFFLD_TRY(check_empty(fd.get(), path));
  } else if (errno != ENOENT) {
    return file_error(path, "cannot be opened as a folder", errno);
  }
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

Result<void> write_members(const Container& container, const std::string& work,
                           const std::string& root) {
  const Descriptor fd(open(work.c_str(), folder_flags));
  if (!fd.valid()) return file_error(root, "cannot be entered", errno);
  for (const Member& member : container.members()) {
    NEFFLD_TRY(write_member(fd.get(), member, root));
  }
  return {};
}

/// Gives every file and folder of `work`, which lies in the folder `target`, its place there.
Result<void> move_up(const Container& container, const std::string& work, const Descriptor& target,
                     const std::string& root) {
  const Descriptor fd(open(work.c_str(), folder_flags));
  if (!fd.valid()) return file_error(root, "cannot be entered", errno);
  std::string last;
  for (const Member& member : container.members()) {  // sorted: those of one folder in a row
    std::string top(member.name.substr(0, member.name.find('/')));
    if (top == last) continue;
    if (renameat(fd.get(), top.c_str(), target.get(), top.c_str()) != 0) {
      return file_error(root + "/" + printable_name(top), "cannot be created", errno);
    }
    last = std::move(top);
  }
  if (rmdir(work.c_str()) != 0) return file_error(root, "cannot be tidied", errno);
  return {};
}

/// Takes an unfinished folder away.
void discard(const Container& container, const std::string& work) {
  std::error_code failed;
  std::filesystem::remove_all(work, failed);
  if (!failed) return;
  // It opens folders, for which there may be no descriptors; names need none.
  for (const Member& member : container.members()) {
    auto path = std::filesystem::path(work) / member.name;
    for (std::filesystem::remove(path, failed); path != work;) {
      path = path.parent_path();
      std::filesystem::remove(path, failed);
    }
  }
}

/// The folder that is filled first: in the target if that is there, else beside it.
Result<std::string> create_work_folder(const std::string& folder, bool inside) {
  std::string beside = folder;
  while (beside.size() > 1 && beside.ends_with('/')) beside.pop_back();
  const std::filesystem::path parent =
      inside ? std::filesystem::path(folder) : std::filesystem::path(beside).parent_path();
  NEFFLD_ASSIGN(const std::string name, create_hidden(folder, [&](const std::string& free) {
                  return mkdir((parent / free).c_str(), 0777) == 0;
                }));
  return (parent / name).string();
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
    NEFFLD_ASSIGN(const std::string work, create_work_folder(folder, target.valid()));
    Result<void> done = write_members(container, work, folder);
    if (done && target.valid()) {
      done = move_up(container, work, target, folder);
    } else if (done && rename(work.c_str(), folder.c_str()) != 0) {
      done = file_error(folder, "cannot be created", errno);
    }
    if (!done) discard(container, work);
    return done;
  });
}

}  // namespace neffld
