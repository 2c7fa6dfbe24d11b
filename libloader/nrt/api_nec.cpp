// SPDX-License-Identifier: MIT
// What a collectives library asks: there are devices, and no links between them.
#include <algorithm>
#include <atomic>

#include "api.hpp"
#include "nrt/nec.h"

using namespace neffld;
using namespace neffld::nrt;

int nec_get_device_count(int* available_mla_array, uint32_t array_size) {
  int count = -1;
  gated("nec_get_device_count", "count the devices", [&](Runtime& runtime) -> Result<void> {
    const std::uint32_t devices = runtime.topology().devices;
    for (std::uint32_t i = 0; available_mla_array != nullptr && i < std::min(devices, array_size);
         ++i) {
      available_mla_array[i] = static_cast<int>(i);
    }
    count = static_cast<int>(devices);
    return {};
  });
  return count;
}

NRT_STATUS nec_get_virtual_core_size(uint32_t* virtual_core_size) {
  return gated("nec_get_virtual_core_size", "tell the core size",
               [&](Runtime& runtime) -> Result<void> {
                 NEFFLD_TRY(need(virtual_core_size, "virtual_core_size"));
                 *virtual_core_size = runtime.topology().core_size;
                 return {};
               });
}

NRT_STATUS nec_get_version_info(nec_version_info_t*) {
  return NRT_INVALID;
}
void nec_inc_semaphore(volatile uint32_t*, uint32_t) {}
int nec_get_device_pci_bdf(int, uint32_t*, uint32_t*, uint8_t*, uint8_t*) {
  return -1;
}
NRT_STATUS nec_build_port_and_rid_map(int, int*, int*, int) {
  return NRT_INVALID;
}
bool nec_is_mla_available(int, int) {
  return false;
}
int nec_mla_idx_to_rid(int, int) {
  return -1;
}
int nec_rid_to_mla_idx(int, int) {
  return -1;
}
int nec_get_peer_mla_idx(int, int, int) {
  return -1;
}
int nec_get_p2p_pod_peer_node(uint32_t, int, uint32_t, int*) {
  return -1;
}
NRT_STATUS nec_pod_node_can_access_peer_node(nec_pod_type_t, uint32_t, uint32_t, uint32_t, uint32_t,
                                             int*) {
  return NRT_INVALID;
}
void nec_ndl_printk(char*, uint32_t, uint32_t) {}
size_t nec_get_dynamic_send_size_bytes(enc_host_mem_t*, size_t, int, int) {
  return 0;
}
size_t nec_get_dynamic_send_offset_bytes(enc_host_mem_t*, size_t, int, int) {
  return 0;
}
size_t nec_get_dynamic_recv_offset_bytes(enc_host_mem_t*, size_t, int, int) {
  return 0;
}
void nec_set_recv_size_bytes(enc_host_mem_t*, size_t, size_t, int, int) {}
