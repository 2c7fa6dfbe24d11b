// SPDX-License-Identifier: MIT
// A model's inputs and outputs in device memory.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "device_calls.hpp"
#include "neffld/session.hpp"
#include "tensor_source.hpp"

namespace neffld::cli {

/// One allocation a name; a tensor that is input and output at once has one for both.
class RunTensors {
 public:
  /// Allocates on the HBM of the model's first core. Freed with the object.
  static Result<std::unique_ptr<RunTensors>> allocate(std::shared_ptr<DeviceFile> file,
                                                      const LoadedModel& model);

  std::map<std::string, std::uint64_t, std::less<>> addresses() const;
  /// Copies a source to the input `name`; `also` sees the same pieces.
  Result<void> write(const std::string& name, TensorSource& source, const PieceSink& also = {});
  /// Fills the outputs that are no inputs with FF bytes, which no program leaves there by chance,
  /// so that what it does not write is seen.
  Result<void> spoil_outputs();
  Result<void> read(const std::string& name, const PieceSink& sink);

 private:
  RunTensors(std::shared_ptr<DeviceFile> file, const Manifest& manifest)
      : file_(std::move(file)), manifest_(manifest), calls_(*file_), list_(calls_) {}
  std::uint64_t size_of(const std::string& name) const;

  std::shared_ptr<DeviceFile> file_;
  const Manifest& manifest_;
  DeviceCalls calls_;
  AllocationList list_;
  std::map<std::string, DeviceMemory, std::less<>> memory_;
};

}  // namespace neffld::cli
