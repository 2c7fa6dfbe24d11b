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

namespace {

/// Only letters, digits, '_', '-' and, if asked for, '.' stay as they are.
std::string escaped(std::string_view text, bool keep_dots) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || (c == '.' && keep_dots);
    if (plain) {
      name += c;
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  if (name.starts_with('.')) name.replace(0, 1, "%2E");
  return name;
}

/// Cuts a name to what a file system takes, with a hash of what it stands for in place of the rest.
std::string with_suffix(std::string name, std::string_view suffix, std::string_view whole) {
  if (name.size() + suffix.size() <= NAME_MAX) return name.append(suffix);
  Sha256 hash;
  hash.add(as_bytes(whole));
  // No byte becomes "%-", so this is the file of no other name.
  const std::string end = fmt::format("%-{:02x}{}", fmt::join(hash.finish(), ""), suffix);
  return name.substr(0, NAME_MAX - end.size()) + end;
}

}  // namespace

std::string tensor_file_name(std::string_view tensor) {
  return with_suffix(escaped(tensor, true), ".npy", tensor);
}

std::string ring_file_name(std::string_view prefix, std::string_view subgraph,
                           std::string_view queue, std::uint32_t instance, std::uint32_t k,
                           bool tx) {
  const std::string name = fmt::format("{}{}.{}.{}.{}", prefix, escaped(subgraph, false),
                                       escaped(queue, true), instance, k);
  return with_suffix(name, tx ? ".tx.bin" : ".rx.bin", name);
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
  if (!folder_.valid() || kept_) return;
  for (const std::string& name : made_) unlinkat(folder_.get(), name.c_str(), 0);
  if (created_) rmdir(path_.c_str());  // takes none with files in it
}

Result<void> OutputFolder::check_free(const std::string& name) const {
  struct stat info {};
  if (fstatat(folder_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return file_error(path_of(name), "cannot be examined", errno);
  }
  if (replace_ && !S_ISDIR(info.st_mode)) return {};
  return file_error(path_of(name), replace_ ? "is a folder, expected a file or nothing"
                                            : "exists, expected --force to replace it");
}

Result<NewFile> OutputFolder::new_file(const std::string& name, const std::string& path) const {
  Descriptor folder(fcntl(folder_.get(), F_DUPFD_CLOEXEC, 0));
  if (!folder.valid()) return file_error(path_, "cannot be kept open", errno);
  return NewFile::create_in(std::move(folder), name, path, replace_);
}

Result<NewFile> OutputFolder::create(const std::string& name) {
  NEFFLD_TRY(check_free(name));
  if (faccessat(folder_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0) made_.push_back(name);
  return new_file(name, path_of(name));
}

}  // namespace neffld::cli
