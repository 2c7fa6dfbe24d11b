// SPDX-License-Identifier: MIT
#include "core_marks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "neuron_abi/ioctl.h"

namespace neffld::nrt {
namespace {

std::string command_of(std::int32_t process) {
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string command;
  std::getline(file, command);
  return command.empty() ? "another container's?" : command;
}

/// "held by pid 12 (python3), pid 14 (server)": who else uses the device. The driver does not tell
/// whose a core is.
std::string other_users(DeviceFile& file) {
  struct {
    neuron_get_apps_info head;
    neuron_app_info apps[NEURON_MAX_ATTACHED_PROCESSES];
  } answer{};
  answer.head.capacity = NEURON_MAX_ATTACHED_PROCESSES;
  if (file.ioctl(NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, &answer) != 0) return {};
  std::string users;
  for (std::uint32_t i = 0; i < answer.head.size && i < NEURON_MAX_ATTACHED_PROCESSES; ++i) {
    const std::int32_t process = answer.apps[i].pid;
    if (process == getpid()) continue;
    users += fmt::format("{} pid {} ({})", users.empty() ? "" : ",", process, command_of(process));
  }
  return users.empty() ? std::string() : "; the device is in use by" + users;
}

neuron_crwl_nc_map_ext0 map_of(const CoreRange& physical) {
  neuron_crwl_nc_map_ext0 map{};
  for (std::uint32_t core = physical.first; core < physical.first + physical.count; ++core) {
    map.bitmap[core / 64] |= std::uint64_t{1} << core % 64;
  }
  return map;
}

std::uint32_t first_of(const neuron_crwl_nc_map_ext0& map) {
  std::uint32_t core = 0;
  while (core < NEURON_MAX_CORE_MARKS && (map.bitmap[core / 64] >> core % 64 & 1) == 0) ++core;
  return core;
}

}  // namespace

CoreMarks::~CoreMarks() {
  release();
}

void CoreMarks::release() noexcept {
  if (marked_.count == 0) return;
  neuron_crwl_nc_map_ext0 map = map_of(marked_);
  file_->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, &map);
  marked_ = {};
}

Result<CoreRange> CoreMarks::take(const CoreRange& wanted, bool exact, const Topology& topology) {
  if (!file_->traits().simulated) return wanted;
  const std::uint32_t size = topology.core_size;
  neuron_crwl_nc_map_ext0 map{};
  map.nc_count = wanted.count * size;
  map.start_nc_index = wanted.first * size;
  map.end_nc_index =
      exact ? (wanted.first + wanted.count) * size - 1 : topology.cores_per_device - 1;
  const int answer = file_->ioctl(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, &map);
  if (answer == -EBUSY) {
    const std::string requested =
        exact ? fmt::format("lnc{}-lnc{}", wanted.first, wanted.first + wanted.count - 1)
              : std::to_string(wanted.count);
    return fail(Status::failure, ErrorClass::resource, {},
                fmt::format("Logical Neuron Core(s) not available - Requested:{} Available:{} "
                            "Logical Core size {}{}",
                            requested, map.max_nc_available / size, size, other_users(*file_)));
  }
  if (answer != 0) {
    return fail(Status::failure, ErrorClass::device, {.path = "CRWL_NC_RANGE_MARK_EXT0"},
                fmt::format("the driver answered {}: cores {} to {}", answer, map.start_nc_index,
                            map.end_nc_index));
  }
  marked_ = {first_of(map), map.nc_count};
  if (marked_.first % size != 0) {
    const std::uint32_t first = marked_.first;
    release();
    return fail(Status::invalid, ErrorClass::resource, {},
                fmt::format("Cannot start process with LNC Size of {}: the first free run of {} "
                            "physical cores begins at core {}, expected a multiple of {}",
                            size, map.nc_count, first, size));
  }
  return CoreRange{marked_.first / size, wanted.count};
}

}  // namespace neffld::nrt
