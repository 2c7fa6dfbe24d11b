// SPDX-License-Identifier: MIT
// Several devices of one host, as processes see them through ioctls and as tools see them in sysfs
// (spec 06 sections 4.1, 4.3, 7.4 and 8).
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

#include "neffld/sim_control.hpp"
#include "neuron_abi/ioctl.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

using Devices = std::vector<std::shared_ptr<SimDevice>>;

Devices make(std::uint32_t architecture, std::uint32_t count) {
  SimOptions options;
  options.architecture = architecture;
  options.hbm_bytes = 64 << 20;
  auto devices = sim_devices(options, count);
  INFO((devices ? std::string() : to_sentence(devices.error())));
  REQUIRE(devices);
  return std::move(*devices);
}

std::string fact(const std::shared_ptr<SimDevice>& device, const std::string& path) {
  const auto text = sim_fact(*device, path);
  return text ? *text : to_sentence(text.error());
}

/// "12, 3, 4, 1\n", as sysfs writes the neighbours.
std::string neighbours(DeviceFile& file) {
  neuron_device_info info{};
  REQUIRE(file.ioctl(NEURON_IOCTL_DEVICE_INFO, &info) == 0);
  std::string text;
  for (std::uint32_t i = 0; i < info.connected_device_count; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", info.connected_devices[i]);
  }
  return text + "\n";
}

}  // namespace

TEST_CASE("each device of 1 to 64 knows its place and its neighbours") {
  // A device takes address space by the 100 GiB, so the largest host is made once.
  for (const std::uint32_t architecture : {2u, 3u}) {
    for (const std::uint32_t count : {1u, 3u, architecture == 2 ? 16u : 64u}) {
      CAPTURE(architecture, count);
      const Devices devices = make(architecture, count);
      std::set<std::uint32_t> routing_ids;
      for (std::uint32_t index = 0; index < count; ++index) {
        CAPTURE(index);
        const auto file = *devices[index]->open();
        neuron_host_device_id id{};
        REQUIRE(file->ioctl(NEURON_IOCTL_HOST_DEVICE_ID, &id) == 0);
        CHECK(id.host_device_id == index);
        neuron_host_device_id_to_rid_map map{};
        REQUIRE(file->ioctl(NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP, &map) == 0);
        CHECK(map.count == count);
        routing_ids.insert(map.host_did_to_rid_map[index]);
        CHECK(neighbours(*file) == fact(devices[index], "connected_devices"));
        // Only whole groups of 16 are wired up.
        CHECK((neighbours(*file) == "\n") == (count % 16 != 0));
        neuron_device_bdf_ext bdf{};
        CHECK(file->ioctl(NEURON_IOCTL_DEVICE_BDF_EXT, &bdf) == 0);
        bdf.nd_index = count - index;  // one behind the last
        CHECK(file->ioctl(NEURON_IOCTL_DEVICE_BDF_EXT, &bdf) == -EINVAL);
      }
      CHECK(routing_ids.size() == count);
    }
  }
}

TEST_CASE("a neighbour's neighbours include the device itself") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Devices devices = make(architecture, 16);
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (std::uint32_t index = 0; index < devices.size(); ++index) {
      neuron_device_info info{};
      REQUIRE((*devices[index]->open())->ioctl(NEURON_IOCTL_DEVICE_INFO, &info) == 0);
      REQUIRE(info.connected_device_count == 4);
      for (std::uint32_t i = 0; i < 4; ++i) links.emplace(index, info.connected_devices[i]);
    }
    for (const auto& [from, to] : links) CHECK(links.contains({to, from}));
  }
}

TEST_CASE("memory, handles and queues are each device's own, core marks are the host's") {
  const Devices devices = make(3, 2);
  std::unique_ptr<DeviceFile> first, second, other;
  REQUIRE(sim_open_as(*devices[0], 10, Access::read_write, first) == 0);
  REQUIRE(sim_open_as(*devices[1], 10, Access::write_only, second) == 0);
  REQUIRE(sim_open_as(*devices[1], 11, Access::write_only, other) == 0);
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 request{};
  request.size = 4096;
  request.mem_handle_ptr = address_of(&handle);
  REQUIRE(first->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &request) == 0);
  CHECK(devices[0]->counters().live_handles == 1);
  CHECK(devices[1]->counters().live_handles == 0);
  // Cores of device 1 are 8 to 15 of the host; a bitmap counts from the opened device's first.
  neuron_crwl_nc_map_ext0 marks{1, 8, 8, 0, {}};
  REQUIRE(first->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, &marks) == 0);
  CHECK(marks.bitmap[0] == 0x100);
  neuron_crwl_nc_map_ext0 same{1, 0, 0, 0, {}};
  CHECK(other->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, &same) == -EBUSY);
  // Closing a write-only file of any device gives back all marks of the process.
  second.reset();
  CHECK(other->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, &same) == 0);
}

TEST_CASE("facts follow what processes do") {
  const Devices devices = make(3, 1);
  const std::string present = "neuron_core0/stats/memory_usage/device_mem/tensors/present";
  const std::string peak = "neuron_core0/stats/memory_usage/device_mem/tensors/peak";
  CHECK(fact(devices[0], "core_count") == "8");
  CHECK(fact(devices[0], "info/architecture/device_name") == "Trainium2");
  CHECK(fact(devices[0], present) == "0");
  {
    const auto file = *devices[0]->open();
    std::uint64_t handle = 0;
    neuron_mem_alloc_v2mt64 request{};
    request.size = 5000;
    request.mem_type = NEURON_MEM_TENSORS_DEVICE;
    request.mem_handle_ptr = address_of(&handle);
    REQUIRE(file->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &request) == 0);
    CHECK(fact(devices[0], present) == "8192");
  }
  CHECK(fact(devices[0], present) == "0");
  CHECK(fact(devices[0], peak) == "8192");
  CHECK_FALSE(sim_fact(*devices[0], "no/such/attribute"));
  CHECK_FALSE(sim_fact(*devices[0], "neuron_core8/info/architecture/arch_type"));
  CHECK_FALSE(sim_devices({}, 0));
  CHECK_FALSE(sim_devices({}, 65));
}
