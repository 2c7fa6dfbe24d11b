// SPDX-License-Identifier: MIT
// Free-access files: opened for writing only, they do not attach and reach only the miscellaneous
// commands (spec 06 section 2).
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "command_table.hpp"
#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

/// Flag M of the command table (spec 06 section 3).
constexpr std::array served = {
    NEURON_IOCTL_CRWL_NC_RANGE_MARK,
    NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0,
    NEURON_IOCTL_CRWL_NC_RANGE_UNMARK,
    NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0,
    NEURON_IOCTL_COMPATIBLE_VERSION,
    NEURON_IOCTL_DEVICE_BASIC_INFO,
    NEURON_IOCTL_DEVICE_BDF_EXT,
    NEURON_IOCTL_DMABUF_FD,
    NEURON_IOCTL_DRIVER_INFO_GET,
    NEURON_IOCTL_DRIVER_INFO_SET,
    NEURON_IOCTL_PRINTK,
    NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP,
    NEURON_IOCTL_NC_PID_STATE_DUMP,
    NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP,
    NEURON_IOCTL_POD_INFO,
    NEURON_IOCTL_POD_STATUS,
    NEURON_IOCTL_POD_STATUS_V2,
    NEURON_IOCTL_POD_CTRL,
    NEURON_IOCTL_POD_CTRL_V2,
    NEURON_IOCTL_GET_VA_PLACEMENT,
};

void serves_identity(Trial& t) {
  const Party other = t.party(Access::write_only);
  const Client& c = other.client;
  neuron_device_basic_info basic{};
  t.result("DEVICE_BASIC_INFO", c.call(NEURON_IOCTL_DEVICE_BASIC_INFO, basic), 0);
  t.equal("DEVICE_BASIC_INFO", "architecture", basic.architecture, t.facts().architecture);
  neuron_driver_info info{};
  t.result("DRIVER_INFO_GET", c.call(NEURON_IOCTL_DRIVER_INFO_GET, info), 0);
  t.equal("DRIVER_INFO_GET", "size", info.size, sizeof info);
  neuron_compatible_version version{};
  t.result("COMPATIBLE_VERSION", c.call(NEURON_IOCTL_COMPATIBLE_VERSION, version), 0);
  neuron_device_bdf_ext bdf{};
  t.result("DEVICE_BDF_EXT", c.call(NEURON_IOCTL_DEVICE_BDF_EXT, bdf), 0);
  neuron_host_device_id_to_rid_map map{};
  t.result("HOST_DEVICE_ID_TO_RID_MAP", c.call(NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP, map), 0);
  t.holds("HOST_DEVICE_ID_TO_RID_MAP", map.count >= 1, "count 0", "at least 1");
}

void serves_pods_and_maps(Trial& t) {
  const Party other = t.party(Access::write_only);
  const Client& c = other.client;
  neuron_pod_info pod{};
  pod.sz = sizeof pod;
  t.result("POD_INFO", c.call(NEURON_IOCTL_POD_INFO, pod), 0);
  neuron_pod_status status{};
  status.sz = sizeof status;
  t.result("POD_STATUS", c.call(NEURON_IOCTL_POD_STATUS, status), 0);
  std::uint32_t map[3]{};
  neuron_nc_map wanted{pointer(map), 1, 0};
  t.result("GET_LOGICAL_TO_PHYSICAL_NC_MAP",
           c.call(NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, wanted),
           t.facts().v2() ? -kernel_enotsupp : 0);
}

void serves_marks(Trial& t) {
  const Party other = t.party(Access::write_only);
  neuron_crwl_nc_map marks{1, 0, 0, 77, 0};
  t.result("CRWL_NC_RANGE_MARK", other.client.call(NEURON_IOCTL_CRWL_NC_RANGE_MARK, marks), 0);
  t.equal("CRWL_NC_RANGE_MARK", "bitmap", marks.bitmap, 1);
  t.result("CRWL_NC_RANGE_UNMARK", other.client.call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, marks), 0);
}

void refuses_the_rest(Trial& t) {
  const Party other = t.party(Access::write_only);
  // Nothing is read: the lane is chosen before the argument is looked at.
  for (const shim::CommandInfo& info : shim::all_commands()) {
    if (std::find(served.begin(), served.end(), info.value) != served.end()) continue;
    t.result(fmt::format("{} through a write-only file", info.name),
             other.client.at(info.value, bad_pointer), -EINVAL);
  }
}

void refuses_memory(Trial& t) {
  const Party owner = t.party();
  const Party other = t.party(Access::write_only);
  const std::uint64_t handle = t.chunk(owner.client, {page});
  std::uint64_t mine = 77;
  Bytes bytes(16);
  t.result("MEM_ALLOC_V2MT64", other.client.alloc({page}, mine), -EINVAL);
  t.equal("MEM_ALLOC_V2MT64", "handle", mine, 77);
  t.result("MEM_BUF_COPY64", other.client.read(handle, bytes), -EINVAL);
  t.result("MEM_FREE", other.client.free(handle), -EINVAL);
  t.result("MEM_BUF_COPY64 by its owner", owner.client.read(handle, bytes), 0);
}

void also_of_attached_process(Trial& t) {
  // The file decides, not the process.
  Party both = t.party();
  const int descriptor = both.process->open(Access::write_only);
  t.holds("a second open, write-only", descriptor >= 0, result_text(descriptor), "a descriptor");
  const Client free_access = both.process->client(descriptor);
  std::uint64_t handle = 0;
  t.result("MEM_ALLOC_V2MT64", both.client.alloc({page}, handle), 0);
  t.result("MEM_ALLOC_V2MT64 through the write-only file", free_access.alloc({page}, handle),
           -EINVAL);
}

void no_gate(Trial& t) {
  const Party other = t.party(Access::write_only);
  neuron_driver_info info{};
  t.result("DRIVER_INFO_SET, unattached, write-only",
           other.client.call(NEURON_IOCTL_DRIVER_INFO_SET, info), -kernel_enotsupp);
}

void no_mmap(Trial& t) {
  const Party owner = t.party();
  const Party other = t.party(Access::write_only);
  const std::uint64_t handle = t.chunk(owner.client, {page});
  std::uint64_t address = 0;
  t.result("MEM_GET_PA", owner.client.pa(handle, address), 0);
  const auto mapped = other.client.file().mmap(address, page, false);
  t.holds("mmap of a write-only file", !mapped, "a mapping", "-EACCES");
  t.holds("mmap of a write-only file",
          mapped.error().text.find(std::strerror(EACCES)) != std::string::npos, mapped.error().text,
          std::strerror(EACCES));
}

void mode_3(Trial& t) {
  const Party other = t.party(Access::mode_3);
  neuron_device_basic_info basic{};
  t.result("DEVICE_BASIC_INFO, access mode 3",
           other.client.call(NEURON_IOCTL_DEVICE_BASIC_INFO, basic), 0);
  std::uint64_t handle = 0;
  t.result("MEM_ALLOC_V2MT64, access mode 3", other.client.alloc({page}, handle), -EINVAL);
}

void read_only(Trial& t) {
  const Party other = t.party(Access::read_only);
  const std::uint64_t handle = t.chunk(other.client, {page});
  t.result("MEM_BUF_COPY64 through a read-only file", other.client.write(handle, pattern(16, 1)),
           0);
  t.result("MEM_FREE through a read-only file", other.client.free(handle), 0);
}

}  // namespace

void add_access(Rows& rows) {
  add(rows, "access.free-access-serves-identity", serves_identity, "06 2, 3");
  add(rows, "access.free-access-serves-pods-and-maps", serves_pods_and_maps, "06 2, 3");
  Row& marks = add(rows, "access.free-access-serves-marks", serves_marks, "06 2, 3");
  marks.safety = Safety::intrusive;
  marks.needs = Needs::idle;
  add(rows, "access.free-access-refuses-every-other-command", refuses_the_rest, "06 2, 3").safety =
      Safety::intrusive;
  add(rows, "access.free-access-refuses-memory", refuses_memory, "06 2");
  add(rows, "access.free-access-of-an-attached-process", also_of_attached_process, "06 2");
  add(rows, "access.free-access-skips-the-gate", no_gate, "06 2, 4.1");
  add(rows, "access.free-access-cannot-map", no_mmap, "11 B.1");
  add(rows, "access.mode-3-is-free-access", mode_3, "06 2, 11 B.3");
  add(rows, "access.read-only-is-attached", read_only, "06 2");
}

}  // namespace neffld::cts
