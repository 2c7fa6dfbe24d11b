// SPDX-License-Identifier: MIT
// Facts about devices.
#include <algorithm>
#include <cstring>

#include "api.hpp"
#include "nrt/nrt.h"

using namespace neffld;
using namespace neffld::nrt;

namespace {

Result<void> check_device(const Runtime& runtime, int device) {
  const std::uint32_t count = runtime.topology().devices;
  if (device >= 0 && static_cast<std::uint32_t>(device) < count) return {};
  return fail(Status::invalid, ErrorClass::usage, {},
              fmt::format("device {} does not exist, there are {}", device, count));
}

tl::unexpected<Error> no_support(const char* what) {
  return unsupported({}, fmt::format("{} is not supported by this library", what));
}

}  // namespace

NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats, size_t size_in,
                                    size_t* size_out) {
  return gated("nrt_get_vnc_memory_stats", "tell the memory use",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(stats, "stats"));
                 NEFFLD_TRY(need(size_out, "stats_size_out"));
                 NEFFLD_TRY(runtime.check_vnc(vnc));
                 NEFFLD_ASSIGN(const std::shared_ptr<Device> device, runtime.device_of(vnc));
                 nrt_vnc_memory_stats_t full{};
                 const std::uint32_t first = runtime.first_core_of(vnc);
                 for (std::uint32_t i = 0; i < runtime.topology().core_size; ++i) {
                   full.bytes_used += device->bytes_on_core(first + i);
                 }
                 full.bytes_limit = device->arch().hbm_size;
                 *size_out = std::min(size_in, sizeof full);
                 std::memcpy(stats, &full, *size_out);
                 return {};
               });
}

NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id) {
  return gated("nrt_host_device_id_get", "tell the host's device number",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(host_device_id, "host_device_id"));
                 NEFFLD_TRY(check_device(runtime, neuron_dev));
                 *host_device_id = static_cast<std::uint32_t>(neuron_dev);
                 return {};
               });
}

NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* map) {
  return gated("nrt_host_device_id_rid_map_get", "tell the routing ids",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(count, "count"));
                 NEFFLD_TRY(need(map, "host_did_to_rid_map"));
                 // Without links between devices a device routes under its own number.
                 *count = std::min(*count, runtime.topology().devices);
                 for (std::uint32_t i = 0; i < *count; ++i) map[i] = i;
                 return {};
               });
}

NRT_STATUS nrt_get_hbm_mmap_va(int device_id, int hbm_index, void** address, size_t* size) {
  return gated("nrt_get_hbm_mmap_va", "map an HBM", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(need(address, "addr"));
    NEFFLD_TRY(need(size, "size"));
    NEFFLD_TRY(check_device(runtime, device_id));
    if (hbm_index < 0) return fail(Status::invalid, ErrorClass::usage, {}, "hbm_idx is negative");
    const std::uint32_t count = arch_table(runtime.topology().arch).hbm_count;
    if (static_cast<std::uint32_t>(hbm_index) >= count) {
      return fail(Status::invalid_handle, ErrorClass::usage, {},
                  fmt::format("the device has {} HBMs", count));
    }
    return no_support("mapping a whole HBM");
  });
}

NRT_STATUS nrt_get_dmabuf_fd(uint64_t /*va*/, uint64_t /*size*/, int* fd) {
  return gated("nrt_get_dmabuf_fd", "export memory", [&](Runtime&) -> Result<void> {
    NEFFLD_TRY(need(fd, "fd"));
    return no_support("dma-buf export");
  });
}

NRT_STATUS nrt_get_attached_efa_bdf(const void* /*va*/, char* efa_bdf, size_t* length) {
  return gated(
      "nrt_get_attached_efa_bdf", "find the network device", [&](Runtime&) -> Result<void> {
        NEFFLD_TRY(need(efa_bdf, "efa_bdf"));
        NEFFLD_TRY(need(length, "len"));
        return fail(Status::failure, ErrorClass::check, {}, "no network device is attached");
      });
}
