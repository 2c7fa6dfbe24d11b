// SPDX-License-Identifier: MIT
// Tensor sets (spec 07 section 3.10).
#include "api.hpp"
#include "nrt/nrt.h"
#include "tensor_api.hpp"

using namespace neffld;
using namespace neffld::nrt;

namespace neffld::nrt {

Result<std::shared_ptr<TensorSet>> find_set(Runtime& runtime, const void* handle,
                                            const char* parameter) {
  NEFFLD_TRY(need(handle, parameter));
  if (auto set = runtime.sets.find(handle)) return set;
  return fail(Status::invalid, ErrorClass::usage, {},
              fmt::format("{} is no live tensor set", parameter));
}

}  // namespace neffld::nrt

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** set) {
  return gated("nrt_allocate_tensor_set", "allocate a tensor set",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(set, "result"));
                 *set = runtime.sets.insert(std::make_shared<TensorSet>());
                 return {};
               });
}

// Works in every state: a set is host memory only.
void nrt_destroy_tensor_set(nrt_tensor_set_t** set) {
  if (set == nullptr || *set == nullptr) return;
  if (Runtime::get().state() != State::child) {
    ungated("nrt_destroy_tensor_set", "destroy a tensor set", [&]() -> Result<void> {
      if (Runtime::get().sets.take(*set) != nullptr) return {};
      return fail(Status::invalid, ErrorClass::usage, {}, "tensor_set is no live tensor set");
    });
  }
  *set = nullptr;
}

NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* name,
                                        nrt_tensor_t* tensor) {
  return gated("nrt_add_tensor_to_tensor_set", "add a tensor to a set",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_ASSIGN(const std::shared_ptr<TensorSet> found,
                               find_set(runtime, set, "tensor_set"));
                 NEFFLD_TRY(need(name, "tensor_name"));
                 NEFFLD_TRY(find_tensor(runtime, tensor, "tensor"));
                 found->tensors[name] = tensor;
                 return {};
               });
}

NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* set, const char* name,
                                          nrt_tensor_t** tensor) {
  return gated("nrt_get_tensor_from_tensor_set", "find a tensor in a set",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_ASSIGN(const std::shared_ptr<TensorSet> found,
                               find_set(runtime, set, "tensor_set"));
                 NEFFLD_TRY(need(name, "tensor_name"));
                 NEFFLD_TRY(need(tensor, "tensor"));
                 const auto entry = found->tensors.find(name);
                 if (entry == found->tensors.end()) {
                   return fail(Status::failure, ErrorClass::check, {},
                               fmt::format("the set has no tensor '{}'", name));
                 }
                 *tensor = static_cast<nrt_tensor_t*>(entry->second);
                 return {};
               });
}
