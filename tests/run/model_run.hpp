// SPDX-License-Identifier: MIT
// One real or generated model on a simulated device inside the test, with access to everything
// staged for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_calls.hpp"
#include "neffld/session.hpp"
#include "programs.hpp"

namespace neffld::test {

/// Path of the real file with this number; none when there are no real files, which is printed.
std::optional<std::string> real_file(const std::string& number);

/// Is there a file of this number, or is it the name of a generated model?
bool can_run(const std::string& number);

/// A model that is loaded and bound. Anything that fails is a failed test.
class ModelRun {
 public:
  explicit ModelRun(const std::string& number);
  ~ModelRun();

  SimDevice& device() { return *device_; }
  Session& session() { return *session_; }
  LoadedModel& model() { return *model_; }
  const reference::Program& program() const { return *program_; }
  DeviceCalls& calls() { return *calls_; }

  /// Gives the model the inputs of a seed; they stay until others come.
  void set_inputs(std::uint64_t seed);
  const std::vector<reference::Tensor>& inputs() const { return inputs_; }

  /// Spoils the output, executes. The limit keeps wrong programs from running for ever.
  Result<ExecutionReport> execute();
  reference::Tensor output();
  /// Executes and compares with the reference.
  reference::Comparison judge();

  /// Device memory of the model by address.
  std::vector<std::uint8_t> read(std::uint64_t address, std::uint64_t size);
  void write(std::uint64_t address, Bytes bytes);
  /// Address of a subgraph's instruction image.
  std::uint64_t image(std::uint32_t subgraph, Engine engine) const;
  std::uint32_t image_slots(std::uint32_t subgraph, Engine engine) const;
  /// Address of the tensor of an input or output.
  std::uint64_t tensor(const std::string& name) const { return memory_.at(name).pa; }

 private:
  struct Place {
    std::uint64_t handle, offset;
  };
  Place place_of(std::uint64_t address, std::uint64_t size) const;

  const reference::Program* program_ = nullptr;
  std::shared_ptr<SimDevice> device_;
  std::shared_ptr<DeviceFile> file_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<DeviceCalls> calls_;
  LoadedModel* model_ = nullptr;
  std::map<std::string, DeviceMemory> memory_;
  std::vector<reference::Tensor> inputs_;
};

}  // namespace neffld::test
