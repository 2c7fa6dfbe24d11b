// SPDX-License-Identifier: MIT
// Tensors: making, slicing, freeing and their facts.
#include <cstring>

#include "api.hpp"
#include "nrt/nrt.h"
#include "tensor_api.hpp"

using namespace neffld;
using namespace neffld::nrt;

namespace neffld::nrt {

Result<std::shared_ptr<Tensor>> find_tensor(Runtime& runtime, const void* handle,
                                            const char* parameter) {
  NEFFLD_TRY(need(handle, parameter));
  if (auto tensor = runtime.tensors.find(handle)) return tensor;
  return fail(Status::invalid, ErrorClass::usage, {},
              fmt::format("{} is no live tensor, it was freed or never allocated", parameter));
}

}  // namespace neffld::nrt

namespace {

/// Hands a new tensor to the caller.
Result<void> publish(Runtime& runtime, const char* name, View view, nrt_tensor_t** out) {
  *out = static_cast<nrt_tensor_t*>(
      runtime.tensors.insert(std::make_shared<Tensor>(name, std::move(view))));
  return {};
}

Result<std::shared_ptr<Storage>> allocate(Runtime& runtime, nrt_tensor_placement_t placement,
                                          int vnc, size_t size, const char* name) {
  if (size == 0) {
    return fail(Status::invalid, ErrorClass::usage, {}, "size is 0, expected at least 1 byte");
  }
  switch (static_cast<int>(placement)) {
    case NRT_TENSOR_PLACEMENT_DEVICE: {
      NEFFLD_ASSIGN(const std::uint32_t index, runtime.check_vnc(vnc));
      NEFFLD_ASSIGN(const DevicePlace place, runtime.place_of(index));
      return Storage::on_device(runtime.storages, place, size, name ? name : "_unknown_");
    }
    case NRT_TENSOR_PLACEMENT_HOST:
    case NRT_TENSOR_PLACEMENT_VIRTUAL:
      return Storage::on_host(size);
    default:
      return fail(
          Status::invalid, ErrorClass::usage, {},
          fmt::format("tensor_placement is {}, expected 0 (device), 1 (host) or 2 (virtual)",
                      static_cast<int>(placement)));
  }
}

}  // namespace

NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor) {
  return gated("nrt_tensor_allocate", "allocate a tensor", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(need(tensor, "tensor"));
    NEFFLD_ASSIGN(std::shared_ptr<Storage> storage, allocate(runtime, placement, vnc, size, name));
    return publish(runtime, name, {std::move(storage), 0, size}, tensor);
  });
}

NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor) {
  return gated("nrt_tensor_allocate_empty", "allocate a tensor",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(tensor, "tensor"));
                 return publish(runtime, name, {}, tensor);
               });
}

NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size) {
  return gated(
      "nrt_tensor_attach_buffer", "attach a buffer", [&](Runtime& runtime) -> Result<void> {
        NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found, find_tensor(runtime, tensor, "tensor"));
        NEFFLD_TRY(need(buffer, "buffer"));
        found->attach(Storage::attached(buffer, size));
        return {};
      });
}

NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** slice) {
  return gated("nrt_tensor_allocate_slice", "allocate a slice",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(slice, "tensor_slice"));
                 NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found,
                               find_tensor(runtime, source, "tensor_source"));
                 NEFFLD_ASSIGN(View view, part_of(*found, offset, size));
                 return publish(runtime, name, std::move(view), slice);
               });
}

// Works in every state: after nrt_close() the device memory is gone and the rest still is ours. A
// forked child only forgets the handle, its parent owns what is behind it.
void nrt_tensor_free(nrt_tensor_t** tensor) {
  if (tensor == nullptr || *tensor == nullptr) return;
  Runtime& runtime = Runtime::get();
  if (runtime.state() != State::child) {
    ungated("nrt_tensor_free", "free a tensor", [&]() -> Result<void> {
      const Runtime::Call call(runtime);  // keeps the device while its memory is freed
      if (runtime.tensors.take(*tensor) != nullptr) return {};
      return fail(Status::invalid, ErrorClass::usage, {}, "tensor is no live tensor");
    });
  }
  *tensor = nullptr;
}

// A forked child gets 0: whoever held the table's lock is not there to let it go.
size_t nrt_tensor_get_size(const nrt_tensor_t* tensor) {
  size_t size = 0;
  if (Runtime::get().state() == State::child) return size;
  ungated("nrt_tensor_get_size", "tell the size of a tensor", [&]() -> Result<void> {
    if (const auto found = Runtime::get().tensors.find(tensor)) size = found->view().size;
    return {};
  });
  return size;
}

// Not the usual gate: there is no status to return (spec 07 section 3.0).
void* nrt_tensor_get_va(const nrt_tensor_t* tensor) {
  constexpr const char* api = "nrt_tensor_get_va";
  void* address = nullptr;
  ungated(api, "tell the address of a tensor", [&]() -> Result<void> {
    Runtime& runtime = Runtime::get();
    const Runtime::Call call(runtime);
    if (call.state() != State::init) {
      log_api_error(api, fmt::format("Unexpected runtime state: {}", state_name(call.state())));
      return {};
    }
    NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found, find_tensor(runtime, tensor, "tensor"));
    const View view = found->view();
    if (view.storage == nullptr) return {};
    if (std::uint8_t* const base = view.storage->address()) address = base + view.offset;
    return {};
  });
  return address;
}

NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* info) {
  return gated(
      "nrt_tensor_get_device_allocation_info", "tell where a tensor is",
      [&](Runtime& runtime) -> Result<void> {
        NEFFLD_TRY(need(info, "alloc_info"));
        NEFFLD_ASSIGN(const std::shared_ptr<Tensor> found, find_tensor(runtime, tensor, "tensor"));
        NEFFLD_ASSIGN(const View view, part_of(*found, 0, 0));
        if (!view.storage->is_device()) {
          return fail(Status::invalid, ErrorClass::usage, {},
                      fmt::format("tensor '{}' is in host memory", found->name()));
        }
        const DeviceMemory& memory = view.storage->memory();
        *info = {memory.pa + view.offset, memory.size, static_cast<int>(view.storage->place().hbm)};
        return {};
      });
}
