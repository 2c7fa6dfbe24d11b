// SPDX-License-Identifier: MIT
// Who the driver and the device say they are (spec 06 sections 1 and 4.1).
#include <cerrno>
#include <cstring>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr int enotsupp = 524;  // the kernel's own number, without a name in user space

void basic_info(Trial& t) {
  neuron_device_basic_info info{99, 99};
  t.result("DEVICE_BASIC_INFO", t.client().call(NEURON_IOCTL_DEVICE_BASIC_INFO, info), 0);
  t.equal("DEVICE_BASIC_INFO", "architecture", info.architecture, t.facts().architecture);
}

void driver_info(Trial& t) {
  neuron_driver_info info{};
  info.version = 99;
  t.result("DRIVER_INFO_GET", t.client().call(NEURON_IOCTL_DRIVER_INFO_GET, info), 0);
  t.equal("DRIVER_INFO_GET", "architecture", info.architecture, t.facts().architecture);
  t.equal("DRIVER_INFO_GET", "version", info.version, 0);
  t.equal("DRIVER_INFO_GET", "size", info.size, 24);
}

void features_24(Trial& t) {
  neuron_driver_info info{};
  t.result("DRIVER_INFO_GET", t.client().call(NEURON_IOCTL_DRIVER_INFO_GET, info), 0);
  t.equal("DRIVER_INFO_GET", "features", info.feature_flags1, 0xFF);
}

void features_27(Trial& t) {
  neuron_driver_info info{};
  t.result("DRIVER_INFO_GET", t.client().call(NEURON_IOCTL_DRIVER_INFO_GET, info), 0);
  t.equal("DRIVER_INFO_GET", "features", info.feature_flags1, 0x1FF);
}

void features_30(Trial& t) {
  neuron_driver_info info{};
  t.result("DRIVER_INFO_GET", t.client().call(NEURON_IOCTL_DRIVER_INFO_GET, info), 0);
  t.equal("DRIVER_INFO_GET", "features", info.feature_flags1, 0x1FFF);
}

void driver_info_set(Trial& t) {
  neuron_driver_info info{};
  t.result("DRIVER_INFO_SET", t.client().call(NEURON_IOCTL_DRIVER_INFO_SET, info), -enotsupp);
}

void compatible_version(Trial& t) {
  neuron_compatible_version version{};
  t.result("COMPATIBLE_VERSION", t.client().call(NEURON_IOCTL_COMPATIBLE_VERSION, version), 0);
  t.equal("COMPATIBLE_VERSION", "min", version.min, t.facts().v2() ? 5 : 10);
  t.equal("COMPATIBLE_VERSION", "max", version.max, t.facts().v2() ? 7 : 11);
}

void device_info(Trial& t) {
  neuron_device_info info{};
  t.result("DEVICE_INFO", t.client().call(NEURON_IOCTL_DEVICE_INFO, info), 0);
  t.equal("DEVICE_INFO", "architecture", info.architecture, t.facts().architecture);
  t.holds("DEVICE_INFO", info.connected_device_count <= 8, "more than 8 neighbours", "at most 8");
  t.holds("DEVICE_INFO", info.bar_address[0] != 0, "BAR address 0", "another address");
  t.holds("DEVICE_INFO", info.bar_size[0] != 0, "BAR size 0", "another size");
  t.equal("DEVICE_INFO", "second BAR address", info.bar_address[1], 0);
  t.equal("DEVICE_INFO", "second BAR size", info.bar_size[1], 0);
}

void bdf_agrees(Trial& t) {
  neuron_device_bdf plain{};
  neuron_device_bdf_ext extended{};
  t.result("DEVICE_BDF", t.client().call(NEURON_IOCTL_DEVICE_BDF, plain), 0);
  t.result("DEVICE_BDF_EXT of itself", t.client().call(NEURON_IOCTL_DEVICE_BDF_EXT, extended), 0);
  t.equal("DEVICE_BDF_EXT", "bus", extended.bus_number, plain.bus_number);
  t.equal("DEVICE_BDF_EXT", "slot", extended.slot, plain.slot);
  t.equal("DEVICE_BDF_EXT", "function", extended.func, plain.func);
}

void bdf_index_cut(Trial& t) {
  neuron_device_bdf_ext self{}, again{};
  again.nd_index = 256;
  t.result("DEVICE_BDF_EXT of 0", t.client().call(NEURON_IOCTL_DEVICE_BDF_EXT, self), 0);
  t.result("DEVICE_BDF_EXT of 256", t.client().call(NEURON_IOCTL_DEVICE_BDF_EXT, again), 0);
  t.equal("DEVICE_BDF_EXT of 256", "bus", again.bus_number, self.bus_number);
}

void bdf_out_of_table(Trial& t) {
  neuron_device_bdf_ext argument{};
  for (const std::uint32_t index : {64u, 100u, 191u}) {
    argument.nd_index = index;
    t.result(fmt::format("DEVICE_BDF_EXT of {}", index),
             t.client().call(NEURON_IOCTL_DEVICE_BDF_EXT, argument), -EINVAL);
  }
}

void host_device_id(Trial& t) {
  neuron_host_device_id id{99};
  t.result("HOST_DEVICE_ID", t.client().call(NEURON_IOCTL_HOST_DEVICE_ID, id), 0);
  t.holds("HOST_DEVICE_ID", id.host_device_id < NEURON_MAX_DEVICES,
          std::to_string(id.host_device_id), "an index below 64");
}

void routing_map(Trial& t) {
  neuron_host_device_id_to_rid_map map{};
  t.result("HOST_DEVICE_ID_TO_RID_MAP",
           t.client().call(NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP, map), 0);
  t.holds("HOST_DEVICE_ID_TO_RID_MAP", map.count >= 1 && map.count <= NEURON_MAX_DEVICES,
          std::to_string(map.count), "a count from 1 to 64");
  constexpr std::uint32_t other_direction = 0x81044E73;
  constexpr std::uint32_t smaller = 0xC1004E73;
  t.result("HOST_DEVICE_ID_TO_RID_MAP with direction read", t.client().call(other_direction, map),
           0);
  t.result("HOST_DEVICE_ID_TO_RID_MAP of size 256", t.client().call(smaller, map), -EINVAL);
}

void app_pid(Trial& t) {
  std::int32_t pid = 0;
  t.result("DEVICE_APP_PID", t.client().call(NEURON_IOCTL_DEVICE_APP_PID, pid), 0);
  t.holds("DEVICE_APP_PID", pid > 0, std::to_string(pid), "a process id");
}

void core_map(Trial& t) {
  std::uint32_t map[1 + 2 * 8] = {};
  neuron_nc_map argument{pointer(map), 8, 0};
  t.result("GET_LOGICAL_TO_PHYSICAL_NC_MAP of 8 entries",
           t.client().call(NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, argument), 0);
  t.equal("GET_LOGICAL_TO_PHYSICAL_NC_MAP", "count", map[0], 8);
  std::uint32_t seen = 0;
  for (std::uint32_t core = 0; core < 8; ++core) seen |= 1u << (map[2 + 2 * core] & 31);
  t.equal("GET_LOGICAL_TO_PHYSICAL_NC_MAP", "set of physical cores", seen, 0xFF);
}

void core_map_limits(Trial& t) {
  std::vector<std::uint32_t> map(1 + 2 * 129);
  neuron_nc_map many{pointer(map.data()), 129, 0};
  t.result("GET_LOGICAL_TO_PHYSICAL_NC_MAP of 129 entries",
           t.client().call(NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, many), -EINVAL);
  neuron_nc_map version{pointer(map.data()), 8, 1};
  t.result("GET_LOGICAL_TO_PHYSICAL_NC_MAP version 1",
           t.client().call(NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, version), -EINVAL);
}

void core_map_v2(Trial& t) {
  std::uint32_t map[17] = {};
  neuron_nc_map argument{pointer(map), 129, 1};
  t.result("GET_LOGICAL_TO_PHYSICAL_NC_MAP",
           t.client().call(NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, argument), -enotsupp);
}

void pod_sizes(Trial& t) {
  neuron_pod_info info{};
  info.sz = sizeof info;
  t.result("POD_INFO", t.client().call(NEURON_IOCTL_POD_INFO, info), 0);
  info.sz = sizeof info - 1;
  t.result("POD_INFO with sz 259", t.client().call(NEURON_IOCTL_POD_INFO, info), -EINVAL);
  neuron_pod_status_v2 status{};
  status.v1.sz = sizeof status;
  t.result("POD_STATUS_V2", t.client().call(NEURON_IOCTL_POD_STATUS_V2, status), 0);
  status.v1.sz = sizeof status.v1;
  t.result("POD_STATUS_V2 with sz 268", t.client().call(NEURON_IOCTL_POD_STATUS_V2, status),
           -EINVAL);
}

void no_pod(Trial& t) {
  neuron_pod_status status{};
  status.sz = sizeof status;
  t.result("POD_STATUS", t.client().call(NEURON_IOCTL_POD_STATUS, status), 0);
  if (status.state == NEURON_POD_ULTRASERVER) t.skip("the device is part of an ultraserver");
  t.equal("POD_STATUS", "state", status.state, NEURON_POD_SINGLE_NODE);
  t.equal("POD_STATUS", "node id", static_cast<std::uint8_t>(status.node_id), 0xFF);
  t.equal("POD_STATUS", "type", status.pod_type, 0);
  t.equal("POD_STATUS", "size", status.pod_sz, 0);
}

void pod_control(Trial& t) {
  neuron_pod_ctrl control{};
  control.sz = sizeof control;
  control.state = 77;
  t.result("POD_CTRL", t.client().call(NEURON_IOCTL_POD_CTRL, control), 0);
  t.equal("POD_CTRL", "state", control.state, t.facts().v2() ? 4 : 77);
  control.sz = 15;
  t.result("POD_CTRL with sz 15", t.client().call(NEURON_IOCTL_POD_CTRL, control), -EINVAL);
}

void no_ops(Trial& t) {
  neuron_dma_eng_init engine{9999};
  t.result("DMA_ENG_INIT of engine 9999", t.client().call(NEURON_IOCTL_DMA_ENG_INIT, engine), 0);
  neuron_dma_queue_release release{9999, 99};
  t.result("DMA_QUEUE_RELEASE of queue 9999.99",
           t.client().call(NEURON_IOCTL_DMA_QUEUE_RELEASE, release), 0);
  neuron_notifications_destroy destroy{0};
  t.result("NOTIFICATIONS_DESTROY_V1",
           t.client().call(NEURON_IOCTL_NOTIFICATIONS_DESTROY_V1, destroy), 0);
  neuron_device_init init{1};
  t.result("DEVICE_INIT", t.client().call(NEURON_IOCTL_DEVICE_INIT, init), 0);
  t.result("DEVICE_RELEASE", t.client().at(NEURON_IOCTL_DEVICE_RELEASE, 0), 0);
}

void ready(Trial& t) {
  for (const std::uint32_t command :
       {NEURON_IOCTL_DEVICE_READY, NEURON_IOCTL_DEVICE_RESET_STATUS, NEURON_IOCTL_DEVICE_READY}) {
    std::uint8_t answer = 9;
    t.result(fmt::format("command {:#x}", command), t.client().call(command, answer), 0);
    t.equal(fmt::format("command {:#x}", command), "result", answer, 1);
  }
}

void apps_info(Trial& t) {
  struct {
    neuron_get_apps_info head;
    neuron_app_info apps[16];
  } reply{};
  reply.head.capacity = 16;
  reply.head.apps_info_flags = NEURON_APP_INFO_LOCKS | NEURON_APP_INFO_MEMORY;
  t.result("DEVICE_GET_ALL_APPS_INFO",
           t.client().raw(NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, &reply), 0);
  t.holds("DEVICE_GET_ALL_APPS_INFO", reply.head.size >= 1 && reply.head.size <= 16,
          std::to_string(reply.head.size), "1 to 16 processes");
}

}  // namespace

void add_identity(Rows& rows) {
  add(rows, "identity.basic-info", basic_info, "06 4.1");
  add(rows, "identity.driver-info", driver_info, "06 1");
  add(rows, "identity.features-2.24", features_24, "06 1, 11 B.3").generations = {24, 24};
  add(rows, "identity.features-2.27", features_27, "06 1").generations = {27, 27};
  add(rows, "identity.features-2.30", features_30, "06 1").generations = {30, 30};
  add(rows, "identity.driver-info-set-not-supported", driver_info_set, "06 4.1, 11 B.3");
  add(rows, "identity.compatible-version", compatible_version, "06 1, 11 B.3");
  add(rows, "identity.device-info", device_info, "06 4.1");
  add(rows, "identity.bdf-forms-agree", bdf_agrees, "06 4.1");
  add(rows, "identity.bdf-index-is-8-bits", bdf_index_cut, "11 B.1");
  add(rows, "identity.bdf-index-beyond-table", bdf_out_of_table, "11 B.4").safety =
      Safety::simulated;
  add(rows, "identity.host-device-id", host_device_id, "06 4.1");
  add(rows, "identity.routing-map-size-only", routing_map, "11 B.1");
  add(rows, "identity.app-pid", app_pid, "06 4.1");
  add(rows, "identity.core-map-is-a-permutation", core_map, "06 7.4").architectures = For::v3;
  add(rows, "identity.core-map-limits", core_map_limits, "06 4.1").architectures = For::v3;
  add(rows, "identity.core-map-unsupported", core_map_v2, "06 4.1").architectures = For::v2;
  add(rows, "identity.pod-checks-size-field", pod_sizes, "06 4.1");
  add(rows, "identity.pod-status-without-pod", no_pod, "06 4.1");
  add(rows, "identity.pod-control-state", pod_control, "11 B.1").safety = Safety::intrusive;
  add(rows, "identity.commands-that-do-nothing", no_ops, "06 4.1");
  add(rows, "identity.ready-is-repeatable", ready, "06 4.4");
  add(rows, "identity.processes-are-listed", apps_info, "06 4.1");
}

}  // namespace neffld::cts
