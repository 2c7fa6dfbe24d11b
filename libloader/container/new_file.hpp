// SPDX-License-Identifier: MIT
// The one way files are written: whole or not at all.
#pragma once

#include <string>

#include "descriptor.hpp"
#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// A file that takes its name when it is whole. Until then it has none (O_TMPFILE), so that nothing
/// is left of it whatever ends the process. Where the file system has no such files it lies hidden
/// in the same folder, and only a killed process leaves it; so it does for a moment when it
/// replaces another. A file that was there before stays until it is replaced, at once. Errors:
/// class file.
class NewFile {
 public:
  /// Never through a link, and never in the place of something that is no file.
  static Result<NewFile> create(const std::string& path);
  /// In an open folder. `path` is for messages; without `replace` nothing may have the name.
  static Result<NewFile> create_in(Descriptor folder, std::string name, std::string path,
                                   bool replace);
  NewFile(NewFile&&) = default;
  ~NewFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return file_.get(); }
  Result<void> append(Bytes bytes) { return write_all(file_.get(), bytes, path_); }
  /// Gives the file its name.
  Result<void> finish();

 private:
  NewFile(Descriptor folder, std::string name, std::string path, bool replace);
  /// How a file without a name can be found.
  std::string self() const;
  /// A hidden name, which a file without one gets, too, before it can replace another.
  Result<void> make_hidden();
  Result<void> link_hidden();

  Descriptor folder_, file_;
  std::string name_, path_;
  std::string hidden_;  ///< its name until it is finished; empty: none
  bool replace_;
};

}  // namespace neffld
