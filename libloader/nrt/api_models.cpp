// SPDX-License-Identifier: MIT
// Models: load, unload, what they want to know and hand out.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "api.hpp"
#include "models.hpp"
#include "nrt/nrt_experimental.h"

using namespace neffld;
using namespace neffld::nrt;

namespace {

constexpr std::uint32_t most_dims = 32;  // what an info record may hold

/// Observed clients pass 1, the documents say -1 (spec 07 section 8 item 1).
bool vnc_count_accepted(std::int32_t count) {
  return count >= -1 && count <= 2;
}

Result<void> load(Runtime& runtime, const void* bytes, size_t size, int32_t vnc,
                  const std::optional<Rank>& rank, nrt_model_t** model) {
  NEFFLD_TRY(need(model, "model"));
  *model = nullptr;
  NEFFLD_ASSIGN(
      void* handle,
      load_model(runtime, Bytes(static_cast<const std::uint8_t*>(bytes), size), vnc, rank));
  *model = static_cast<nrt_model_t*>(handle);
  return {};
}

NRT_STATUS refuse_vnc_count(const char* api) {
  return ungated(api, "load the model", []() -> Result<void> {
    return fail(Status::invalid, ErrorClass::usage, {}, "vnc_count is deprecated. only use -1.");
  });
}

struct FreeInfo {
  void operator()(nrt_tensor_info_array_t* info) const {
    for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
      std::free(info->tensor_array[i].shape);
    }
    std::free(info);
  }
};
using InfoArray = std::unique_ptr<nrt_tensor_info_array_t, FreeInfo>;

tl::unexpected<Error> no_memory() {
  return fail(Status::resource, ErrorClass::resource, {}, "out of host memory");
}

Result<void> append_info(nrt_tensor_info_array_t& array, const std::string& name,
                         const TensorInfo& tensor, nrt_tensor_usage_t usage) {
  nrt_tensor_info_t& info = array.tensor_array[array.tensor_count];
  info = {};
  const std::size_t dims = std::min<std::size_t>(tensor.shape.size(), most_dims);
  info.shape = static_cast<std::uint32_t*>(std::malloc(std::max<std::size_t>(dims, 1) * 4));
  if (info.shape == nullptr) return no_memory();
  ++array.tensor_count;
  std::copy_n(name.begin(), std::min(name.size(), sizeof info.name - 1), info.name);
  info.usage = usage;
  info.size = tensor.size;
  info.dtype = static_cast<nrt_dtype_t>(tensor.dtype_code);
  info.ndim = static_cast<std::uint32_t>(dims);
  for (std::size_t i = 0; i < dims; ++i) {
    if (tensor.shape[i] > UINT32_MAX) {
      return fail(
          Status::invalid, ErrorClass::unsupported, {.path = name},
          fmt::format("dimension {} is {}, an info record holds 32 bits", i, tensor.shape[i]));
    }
    info.shape[i] = static_cast<std::uint32_t>(tensor.shape[i]);
  }
  return {};
}

Result<InfoArray> make_info(const ModelRecord& record) {
  const std::size_t count = record.inputs.size() + record.outputs.size();
  InfoArray array(static_cast<nrt_tensor_info_array_t*>(
      std::calloc(1, sizeof(nrt_tensor_info_array_t) + count * sizeof(nrt_tensor_info_t))));
  if (array == nullptr) return no_memory();
  for (const auto& [name, tensor] : record.inputs) {
    NEFFLD_TRY(append_info(*array, name, tensor, NRT_TENSOR_USAGE_INPUT));
  }
  for (const auto& [name, tensor] : record.outputs) {
    NEFFLD_TRY(append_info(*array, name, tensor, NRT_TENSOR_USAGE_OUTPUT));
  }
  return array;
}

NRT_STATUS answer_one(const char* api, const nrt_model_t* model, uint32_t* count) {
  return gated(api, "count", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(need(count, "count"));
    NEFFLD_TRY(find_model(runtime, model));
    *count = 1;
    return {};
  });
}

}  // namespace

NRT_STATUS nrt_load(const void* bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model) {
  if (!vnc_count_accepted(vnc_count)) return refuse_vnc_count("nrt_load");
  return gated("nrt_load", "load the model", [&](Runtime& runtime) {
    return load(runtime, bytes, size, vnc, std::nullopt, model);
  });
}

NRT_STATUS nrt_load_collectives(const void* bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model) {
  if (!vnc_count_accepted(vnc_count)) return refuse_vnc_count("nrt_load_collectives");
  return gated("nrt_load_collectives", "load the model", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(need(model, "model"));
    *model = nullptr;
    const Rank rank{ctx_device_id, ctx_device_count};
    NEFFLD_TRY(check_rank(rank, runtime.topology()));
    return load(runtime, bytes, size, vnc, rank, model);
  });
}

NRT_STATUS nrt_unload(nrt_model_t* model) {
  return gated("nrt_unload", "unload the model",
               [&](Runtime& runtime) { return unload_model(runtime, model); });
}

NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* count) {
  return answer_one("nrt_get_model_nc_count", model, count);
}
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* count) {
  return answer_one("nrt_get_model_vnc_count", model, count);
}
NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* count) {
  return answer_one("nrt_get_model_instance_count", model, count);
}

NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t size_in,
                              size_t* size_out) {
  return gated("nrt_get_model_info", "tell about the model", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(need(info, "info"));
    NEFFLD_TRY(need(size_out, "size_out"));
    NEFFLD_ASSIGN(const ModelRegistry::Reference record, find_model(runtime, model));
    const nrt_model_info_t full{record->vnc};
    *size_out = std::min(size_in, sizeof full);
    std::memcpy(info, &full, *size_out);
    return {};
  });
}

NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** info) {
  return gated("nrt_get_model_tensor_info", "list the tensors of the model",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(info, "tensor_info"));
                 NEFFLD_ASSIGN(const ModelRegistry::Reference record, find_model(runtime, model));
                 NEFFLD_ASSIGN(InfoArray array, make_info(*record));
                 *info = array.release();
                 return {};
               });
}

NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* info) {
  if (info != nullptr) FreeInfo()(info);
  return NRT_SUCCESS;
}
