// SPDX-License-Identifier: MIT
// The folder a command writes tensors or rings into: safe names, no file replaced by surprise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "container/new_file.hpp"
#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld::cli {

/// A file name for a tensor of any name: letters, digits, '_', '-' and '.' stand for themselves,
/// every other byte and a '.' at the start become %XX, so different names have different files and
/// none leaves its folder. A name that would have more than 255 bytes so ends in "%-" and the
/// SHA-256 of the tensor's.
std::string tensor_file_name(std::string_view tensor);
/// The same for one half of a ring: SUBGRAPH.QUEUE.INSTANCE.K.tx.bin or .rx.bin behind `prefix`; a
/// '.' of the subgraph's name is not kept.
std::string ring_file_name(std::string_view prefix, std::string_view subgraph,
                           std::string_view queue, std::uint32_t instance, std::uint32_t k,
                           bool tx);

/// Unless the command does its work to the end, the files of its making go with it, but for those
/// that have taken the place of others, and so does a folder of its making.
class OutputFolder {
 public:
  /// Opens the folder, and creates it if its parent is there. `replace` lets create() replace
  /// files. Error class file if it is no folder or takes no files.
  static Result<OutputFolder> open(const std::string& path, bool replace);
  OutputFolder(OutputFolder&&) = default;
  OutputFolder& operator=(OutputFolder&&) = default;
  ~OutputFolder();

  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  /// Error class file if there is a file of that name which may not be replaced. Nothing is
  /// written.
  Result<void> check_free(const std::string& name) const;
  /// A new, empty file; never one that was there, and never through a link.
  Result<NewFile> create(const std::string& name);
  /// The command has done its work.
  void keep() { kept_ = true; }

 private:
  OutputFolder(std::string path, Descriptor folder, bool replace, bool created)
      : path_(std::move(path)), folder_(std::move(folder)), replace_(replace), created_(created) {}

  Result<NewFile> new_file(const std::string& name, const std::string& path) const;

  std::string path_;
  Descriptor folder_;
  bool replace_;
  bool created_;  ///< by this
  bool kept_ = false;
  std::vector<std::string> made_;  ///< names that were not there before
};

}  // namespace neffld::cli
