// SPDX-License-Identifier: MIT
#include "output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <functional>

#include "neffld/sha256.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {

Result<std::string> tensor_file_name(std::string_view tensor) {
  std::string name;
  for (const char c : tensor) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  constexpr std::string_view suffix = ".npy";
  if (name.size() + suffix.size() > NAME_MAX) {
    Sha256 hash;
    hash.add(as_bytes(tensor));
    NEFFLD_ASSIGN(const Sha256Hash whole, hash.finish());
    // No byte becomes "%-", so this is the file of no other name.
    const std::string end = fmt::format("%-{:02x}{}", fmt::join(whole, ""), suffix);
    return name.substr(0, NAME_MAX - end.size()) + end;
  }
  return name.append(suffix);
}

namespace {

/// The name of a file until it is whole.
std::string part_of(const std::string& name) {
  return fmt::format(".{}-{}.part", getpid(), std::hash<std::string>()(name));
}

Descriptor create_part(const Descriptor& folder, const std::string& name) {
  return Descriptor(
      openat(folder.get(), part_of(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

}  // namespace

NewFile::NewFile(Descriptor folder, Descriptor file, std::string name, std::string path,
                 bool replace)
    : folder_(std::move(folder)),
      file_(std::move(file)),
      part_(part_of(name)),
      name_(std::move(name)),
      path_(std::move(path)),
      replace_(replace) {}

NewFile::~NewFile() {
  if (folder_.valid()) unlinkat(folder_.get(), part_.c_str(), 0);
}

Result<void> NewFile::append(Bytes bytes) {
  return write_all(file_.get(), bytes, path_);
}

Result<void> NewFile::finish() {
  if (!file_.close()) return file_error(path_, "cannot be written", errno);
  const unsigned flags = replace_ ? 0 : RENAME_NOREPLACE;
  if (renameat2(folder_.get(), part_.c_str(), folder_.get(), name_.c_str(), flags) != 0) {
    return file_error(path_, "cannot be put in its place", errno);
  }
  static_cast<void>(folder_.close());
  return {};
}

Result<OutputFolder> OutputFolder::open(const std::string& path, bool replace) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return file_error(path, "the folder cannot be created", errno);
  }
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return file_error(path, "cannot be opened as a folder", errno);
  const Descriptor probe = create_part(folder, "");
  if (!probe.valid()) return file_error(path, "no file can be created in it", errno);
  unlinkat(folder.get(), part_of("").c_str(), 0);
  return OutputFolder(path, std::move(folder), replace);
}

Result<void> OutputFolder::check_free(std::string_view tensor) const {
  NEFFLD_ASSIGN(const std::string name, tensor_file_name(tensor));
  struct stat info {};
  if (fstatat(folder_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return file_error(path_ + "/" + name, "cannot be examined", errno);
  }
  if (replace_ && !S_ISDIR(info.st_mode)) return {};
  return file_error(path_ + "/" + name, replace_ ? "is a folder, expected a file or nothing"
                                                 : "exists, expected --force to replace it");
}

Result<NewFile> OutputFolder::create(std::string_view tensor) const {
  NEFFLD_TRY(check_free(tensor));
  NEFFLD_ASSIGN(const std::string name, tensor_file_name(tensor));
  const std::string path = path_ + "/" + name;
  Descriptor folder(fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0));
  if (!folder.valid()) return file_error(path_, "cannot be kept open", errno);
  Descriptor file = create_part(folder_, name);
  if (!file.valid()) return file_error(path, "cannot be created", errno);
  return NewFile(std::move(folder), std::move(file), name, path, replace_);
}

}  // namespace neffld::cli
