// SPDX-License-Identifier: MIT
// Reading a folder as the members of a NEFF.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "descriptor.hpp"
#include "neffld/container.hpp"

namespace neffld {
namespace {

/// Walks a folder by descriptors, so that a path exchanged meanwhile cannot lead elsewhere.
class FolderReader {
 public:
  Result<void> read(Descriptor fd, const std::string& path, const std::string& prefix) {
    // Every level keeps a descriptor open; deeper nesting than a member name can have is an error.
    if (prefix.size() > ContainerLimits{}.path_bytes) {
      return file_error(path, "is nested too deeply");
    }
    NEFFLD_ASSIGN(const Listing folder, open_listing(std::move(fd), path));
    while (true) {
      errno = 0;
      const dirent* item = readdir(folder.get());
      if (item == nullptr) break;
      const std::string name = item->d_name;
      if (name == "." || name == "..") continue;
      NEFFLD_TRY(read_item(dirfd(folder.get()), name, path + "/" + name, prefix + name));
    }
    if (errno != 0) return file_error(path, "cannot be listed", errno);
    return {};
  }

  std::vector<PackMember> take() {
    std::ranges::sort(members_, {}, &PackMember::name);
    return std::move(members_);
  }

 private:
  Result<void> read_item(int parent, const std::string& name, const std::string& path,
                         const std::string& member) {
    Descriptor fd(openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) {
      if (errno == ELOOP) return file_error(path, "is a symbolic link; only files are packed");
      return file_error(path, "cannot be opened", errno);
    }
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) return file_error(path, "cannot be examined", errno);
    if (S_ISDIR(info.st_mode)) return read(std::move(fd), path, member + "/");
    NEFFLD_ASSIGN(auto bytes, read_regular(fd.get(), path, ContainerLimits{}.member_bytes));
    members_.push_back(PackMember{member, std::move(bytes), false});
    return {};
  }

  std::vector<PackMember> members_;
};

}  // namespace

Result<std::vector<PackMember>> read_folder(const std::string& folder) {
  return guarded([&]() -> Result<std::vector<PackMember>> {
    Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return file_error(folder, "cannot be opened as a folder", errno);
    FolderReader reader;
    NEFFLD_TRY(reader.read(std::move(fd), folder, ""));
    return reader.take();
  });
}

}  // namespace neffld
