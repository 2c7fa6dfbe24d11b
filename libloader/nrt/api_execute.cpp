// SPDX-License-Identifier: MIT
// Execution: everything that is checked before a model runs (spec 07 section 3.11), and what stands
// in for running it.
#include "api.hpp"
#include "models.hpp"
#include "nrt/nrt.h"
#include "tensor_api.hpp"

using namespace neffld;
using namespace neffld::nrt;

namespace {

/// Device addresses by name.
using Bindings = std::map<std::string, std::uint64_t, std::less<>>;

tl::unexpected<Error> refuse(std::string text) {
  return fail(Status::invalid, ErrorClass::usage, {}, std::move(text));
}

/// One tensor of the NEFF: it must be in the set, as large as the NEFF says, and on the model's
/// virtual core. Host tensors are allowed: a synchronous execution would copy them over.
Result<void> check_tensor(Runtime& runtime, const ModelRecord& record, const TensorSet& set,
                          const std::string& name, const TensorInfo& wanted, Bindings& bindings) {
  const auto entry = set.tensors.find(name);
  if (entry == set.tensors.end()) {
    return refuse(fmt::format("Failed to find tensor {} in tensor set", name));
  }
  const std::shared_ptr<Tensor> tensor = runtime.tensors.find(entry->second);
  if (tensor == nullptr) return refuse(fmt::format("tensor {} in the set was freed", name));
  NEFFLD_ASSIGN(const View view, part_of(*tensor, 0, 0));
  const std::uint64_t size = tensor->view().size;
  if (size != wanted.size) {
    return refuse(
        fmt::format("tensor {} has {} bytes, the model expects {}", name, size, wanted.size));
  }
  if (!view.storage->is_device()) return {};
  const DevicePlace& place = view.storage->place();
  NEFFLD_ASSIGN(const DevicePlace own, runtime.place_of(record.vnc));
  if (place.device != own.device || place.hbm != own.hbm) {
    return refuse(
        fmt::format("Tensor {} allocated on HBM {} was passed to a model loaded on lnc "
                    "{}.",
                    name, place.hbm, record.vnc));
  }
  bindings.emplace(name, view.storage->memory().pa + view.offset);
  return {};
}

Result<Bindings> check_sets(Runtime& runtime, const ModelRecord& record, const TensorSet& inputs,
                            const TensorSet& outputs) {
  if (inputs.tensors.size() != record.inputs.size()) {
    return refuse(fmt::format("Incorrect number of inputs, expected: {}, received: {}",
                              record.inputs.size(), inputs.tensors.size()));
  }
  Bindings bindings;
  for (const auto& [name, tensor] : record.inputs) {
    NEFFLD_TRY(check_tensor(runtime, record, inputs, name, tensor, bindings));
  }
  for (const auto& [name, tensor] : record.outputs) {
    NEFFLD_TRY(check_tensor(runtime, record, outputs, name, tensor, bindings));
  }
  return bindings;
}

/// Resolves the model's template rings and tables to the tensors of an execution whose tensors are
/// all on the device.
Result<void> bind_tensors(Runtime& runtime, const ModelRecord& record, Bindings bindings) {
  NEFFLD_ASSIGN(const std::shared_ptr<Device> device, runtime.device_of(record.vnc));
  const bool complete = [&] {
    for (const auto* tensors : {&record.inputs, &record.outputs}) {
      for (const auto& [name, tensor] : *tensors) {
        if (!bindings.contains(name)) return false;
      }
    }
    return true;
  }();
  if (!complete || !device->traits().simulated) return {};
  return device->with_session(
      [&](Session& session) { return session.bind(*record.bridge.loaded, std::move(bindings)); });
}

Result<void> execute(Runtime& runtime, const nrt_model_t* model, const nrt_tensor_set_t* input_set,
                     const nrt_tensor_set_t* output_set, int repeat_count) {
  if (repeat_count > 1) return refuse("Supports for loops on the host is deprecated");
  NEFFLD_ASSIGN(const ModelRegistry::Reference record, find_model(runtime, model));
  NEFFLD_ASSIGN(const std::shared_ptr<TensorSet> inputs, find_set(runtime, input_set, "input_set"));
  NEFFLD_ASSIGN(const std::shared_ptr<TensorSet> outputs,
                find_set(runtime, output_set, "output_set"));
  NEFFLD_ASSIGN(Bindings bindings, check_sets(runtime, *record, *inputs, *outputs));
  NEFFLD_ASSIGN(const std::shared_ptr<Device> device, runtime.device_of(record->vnc));
  if (!device->traits().simulated) {
    return fail(Status::invalid, ErrorClass::unsupported, {},
                "executing on real hardware is refused: the encodings it needs are not known "
                "(decision 24)");
  }
  NEFFLD_TRY(bind_tensors(runtime, *record, std::move(bindings)));
  return fail(
      Status::invalid, ErrorClass::unsupported, {.path = record->name},
      "execution is not implemented yet: the tensors were checked, nothing ran and the outputs "
      "are unchanged");
}

}  // namespace

NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set) {
  return gated("nrt_execute", "execute the model",
               [&](Runtime& runtime) { return execute(runtime, model, input_set, output_set, 1); });
}

NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count) {
  return gated("nrt_execute_repeat", "execute the model", [&](Runtime& runtime) {
    return execute(runtime, model, input_set, output_set, repeat_count);
  });
}
