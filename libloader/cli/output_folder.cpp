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

Result<OutputFolder> OutputFolder::open(const std::string& path, bool replace) {
  const bool created = mkdir(path.c_str(), 0777) == 0;
  if (!created && errno != EEXIST) {
    return file_error(path, "the folder cannot be created", errno);
  }
  // O_PATH: a folder may take files and yet not be read.
  Descriptor folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return file_error(path, "cannot be opened as a folder", errno);
  OutputFolder opened(path, std::move(folder), replace, created);
  if (auto probe = opened.new_file("", path); !probe) {
    probe.error().text = "a new file in it " + probe.error().text;  // "cannot be created: ..."
    return tl::unexpected<Error>(std::move(probe.error()));
  }
  return opened;
}

OutputFolder::~OutputFolder() {
  if (folder_.valid() && created_) rmdir(path_.c_str());  // takes none with files in it
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

Result<NewFile> OutputFolder::new_file(const std::string& name, const std::string& path) const {
  Descriptor folder(fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0));
  if (!folder.valid()) return file_error(path_, "cannot be kept open", errno);
  return NewFile::create_in(std::move(folder), name, path, replace_);
}

Result<NewFile> OutputFolder::create(std::string_view tensor) const {
  NEFFLD_TRY(check_free(tensor));
  NEFFLD_ASSIGN(const std::string name, tensor_file_name(tensor));
  return new_file(name, path_ + "/" + name);
}

}  // namespace neffld::cli
