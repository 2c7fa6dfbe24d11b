// SPDX-License-Identifier: MIT
// One call of nrt_execute: its checks, its tensors, its run (spec 07 section 3.11).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime.hpp"
#include "tensor.hpp"

namespace neffld::nrt {

/// A checked execution request. It keeps the model and the memory of its tensors alive, and from
/// its making to its end host accesses to those tensors wait for it.
class ExecutionRequest {
 public:
  /// Errors (NRT_INVALID, NRT_INVALID_HANDLE): the model, the sets, a tensor that is missing, has
  /// another size or lies where the model cannot reach it, hardware (decision 24), collectives of
  /// several ranks.
  static Result<std::unique_ptr<ExecutionRequest>> make(Runtime& runtime, const void* model,
                                                        const void* input_set,
                                                        const void* output_set);
  ~ExecutionRequest();
  ExecutionRequest(const ExecutionRequest&) = delete;
  ExecutionRequest& operator=(const ExecutionRequest&) = delete;

  /// Binds and executes; tensors in host memory go through copies on the device. At most once.
  Result<void> run(Runtime& runtime);

  const ModelRecord& model() const { return *model_; }
  /// Name of a tensor that is not in device memory, or null.
  const std::string* host_tensor() const;

 private:
  struct Use {
    std::string name;
    bool output = false;
    std::shared_ptr<Tensor> tensor;
    View view;
    std::shared_ptr<Storage> staged;  ///< stands in on the device for host memory
  };
  explicit ExecutionRequest(ModelRegistry::Reference model) : model_(std::move(model)) {}
  Result<void> add(Runtime& runtime, const TensorSet& set, bool output);
  Result<Use> check(Runtime& runtime, const TensorSet& set, const std::string& name,
                    const TensorInfo& wanted, bool output) const;
  Result<void> check_ranks() const;
  /// The first use of a name, or null.
  const Use* find(const std::string& name) const;
  Result<void> stage(Runtime& runtime);
  Result<void> execute(Runtime& runtime);
  void trace(Runtime& runtime, const ExecutionReport& report) const;
  Result<void> copy_back();
  Result<void> go(Runtime& runtime);
  void count(Runtime& runtime, const Result<void>& done) noexcept;

  ModelRegistry::Reference model_;
  std::shared_ptr<Device> device_;
  std::vector<Use> uses_;
};

}  // namespace neffld::nrt
