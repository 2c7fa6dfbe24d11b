// SPDX-License-Identifier: MIT
#include "new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace neffld {
namespace {

/// Renaming over a device or a folder would destroy or fail; say so before writing anything.
Result<void> check_target(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENAMETOOLONG) return file_error(path, "cannot be created", errno);
    return {};
  }
  if (S_ISREG(info.st_mode)) return {};
  if (S_ISDIR(info.st_mode)) return file_error(path, "is a folder, expected a file name");
  return file_error(path, "is a device, pipe or socket and cannot be replaced by a file");
}

}  // namespace

NewFile::NewFile(Descriptor folder, std::string name, std::string path, bool replace)
    : folder_(std::move(folder)),
      name_(std::move(name)),
      path_(std::move(path)),
      replace_(replace) {}

NewFile::~NewFile() {
  if (folder_.valid() && !hidden_.empty()) unlinkat(folder_.get(), hidden_.c_str(), 0);
}

Result<NewFile> NewFile::create(const std::string& path) {
  NEFFLD_TRY(check_target(path));
  const std::filesystem::path parts(path);
  const std::string parent = parts.has_parent_path() ? parts.parent_path().string() : ".";
  // O_PATH: a folder may take files and yet not be read.
  Descriptor folder(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return file_error(path, "cannot be created", errno);
  return create_in(std::move(folder), parts.filename().string(), path, true);
}

Result<NewFile> NewFile::create_in(Descriptor folder, std::string name, std::string path,
                                   bool replace) {
  NewFile file(std::move(folder), std::move(name), std::move(path), replace);
  file.file_ = Descriptor(openat(file.folder_.get(), ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666));
  // Without /proc it could never get a name.
  if (file.file_.valid() && access(file.self().c_str(), F_OK) == 0) return file;
  NEFFLD_TRY(file.make_hidden());
  return file;
}

std::string NewFile::self() const {
  return fmt::format("/proc/self/fd/{}", file_.get());
}

Result<void> NewFile::make_hidden() {
  NEFFLD_ASSIGN(hidden_, create_hidden(path_, [this](const std::string& free) {
                  file_ = Descriptor(openat(folder_.get(), free.c_str(),
                                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
                  return file_.valid();
                }));
  return {};
}

Result<void> NewFile::link_hidden() {
  NEFFLD_ASSIGN(hidden_, create_hidden(path_, [this](const std::string& free) {
                  return linkat(AT_FDCWD, self().c_str(), folder_.get(), free.c_str(),
                                AT_SYMLINK_FOLLOW) == 0;
                }));
  return {};
}

Result<void> NewFile::finish() {
  // Some file systems tell only when a descriptor is closed that the last writes failed.
  Descriptor copy(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid() || !copy.close()) return file_error(path_, "cannot be written", errno);
  if (hidden_.empty()) {
    const int linked =
        linkat(AT_FDCWD, self().c_str(), folder_.get(), name_.c_str(), AT_SYMLINK_FOLLOW);
    if (linked == 0) return {};
    if (errno != EEXIST || !replace_) return file_error(path_, "cannot be created", errno);
    NEFFLD_TRY(link_hidden());  // only a rename replaces at once
  }
  const unsigned flags = replace_ ? 0 : RENAME_NOREPLACE;
  if (renameat2(folder_.get(), hidden_.c_str(), folder_.get(), name_.c_str(), flags) != 0) {
    return file_error(path_, "cannot be put in its place", errno);
  }
  hidden_.clear();
  return {};
}

}  // namespace neffld
