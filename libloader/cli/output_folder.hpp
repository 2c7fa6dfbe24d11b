// SPDX-License-Identifier: MIT
// The folder a command writes tensors into: safe names, no file replaced by surprise.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "container/descriptor.hpp"
#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld::cli {

/// A file name for a tensor of any name: letters, digits, '_', '-' and '.' stand for themselves,
/// every other byte and a '.' at the start become %XX, so different names have different files and
/// none leaves its folder. A name that would have more than 255 bytes so ends in "%-" and the
/// SHA-256 of the tensor's. Error: libcrypto cannot compute that.
Result<std::string> tensor_file_name(std::string_view tensor);

/// A file that is being written beside its name, which it takes when finish() has succeeded;
/// without that nothing is left of it, and a file that was there before stays.
class NewFile {
 public:
  NewFile(Descriptor folder, Descriptor file, std::string name, std::string path, bool replace);
  NewFile(NewFile&&) = default;
  ~NewFile();
  const std::string& path() const { return path_; }
  Result<void> append(Bytes bytes);
  Result<void> finish();

 private:
  Descriptor folder_, file_;
  std::string part_, name_, path_;
  bool replace_;
};

class OutputFolder {
 public:
  /// Opens the folder, and creates it if its parent is there. `replace` lets create() replace
  /// files. Error class file if it is no folder or takes no files.
  static Result<OutputFolder> open(const std::string& path, bool replace);

  /// Error class file if a tensor's file is there and may not be replaced. Nothing is written.
  Result<void> check_free(std::string_view tensor) const;
  /// A new, empty file for a tensor; never one that was there, and never through a link.
  Result<NewFile> create(std::string_view tensor) const;

 private:
  OutputFolder(std::string path, Descriptor folder, bool replace)
      : path_(std::move(path)), folder_(std::move(folder)), replace_(replace) {}

  std::string path_;
  Descriptor folder_;
  bool replace_;
};

}  // namespace neffld::cli
