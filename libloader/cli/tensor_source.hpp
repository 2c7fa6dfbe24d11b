// SPDX-License-Identifier: MIT
// Where the bytes of a model's input come from: an .npy file or a random generator.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neffld/manifest.hpp"

namespace neffld::cli {

/// Takes consecutive pieces of a tensor.
using PieceSink = std::function<Result<void>(Bytes)>;

/// The elements of one input in C order. May be read once.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// For reports: the file's name, or "random 7".
  virtual std::string description() const = 0;
  virtual Result<void> read(const PieceSink& sink) = 0;
};

using Sources = std::map<std::string, std::unique_ptr<TensorSource>>;

struct InputOptions {
  std::vector<std::string> files;  ///< NAME=FILE
  bool random = false;             ///< inputs without a file are random numbers
  std::uint64_t seed = 0;
};

/// One source for every input of the model. Opens every file and compares its shape and type with
/// the model's, so that nothing is loaded for nothing. Errors: class usage for a name that is
/// unknown, missing or given twice, and for a shape or type that is not the model's; class
/// file and format as files are found.
Result<Sources> open_inputs(const Manifest& manifest, const InputOptions& options);

}  // namespace neffld::cli
