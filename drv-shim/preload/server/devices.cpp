// SPDX-License-Identifier: MIT
#include "devices.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "driver_generation.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld::shim {
namespace {

Error creation_error(std::size_t index, int error) {
  // A device's memory is files, and the model knows of no other lack than that of memory.
  const int cause = error == -ENOMEM ? nds_user_space_error() : 0;
  if (cause == EMFILE || cause == ENFILE) {
    return {Status::failure,
            ErrorClass::resource,
            {},
            fmt::format("creating simulated device {}: {}; each device needs up to 16 descriptors "
                        "for its memory (ulimit -n)",
                        index, std::strerror(cause))};
  }
  return {Status::failure,
          ErrorClass::resource,
          {},
          fmt::format("creating simulated device {}: {}", index, std::strerror(-error))};
}

/// Both ends of a file's socket; the program's has the file's name.
int make_sockets(const std::string& name, Descriptor& ours, Descriptor& programs) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return -errno;
  ours = Descriptor(pair[0]);
  programs = Descriptor(pair[1]);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (bind(pair[1], reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return -errno;
  // One message nobody reads makes the descriptor ready for reading, as poll(2) tells of a driver
  // that does not know it.
  return send_message(pair[0], "", 1) ? 0 : -ENOMEM;
}

}  // namespace

void OpenFile::close(std::int32_t process, bool last) {
  nds_file_flush(file_, process);
  if (last) holders_.erase(process);
}

void OpenFile::end(std::int32_t process) {
  if (holders_.erase(process) != 0) nds_file_flush(file_, process);
}

void OpenFile::end_all() {
  while (!holders_.empty()) end(*holders_.begin());
}

Result<std::unique_ptr<Devices>> Devices::create(const SessionOptions& options) {
  if (options.count == 0 || options.count > NEURON_MAX_DEVICES) {
    return fail(
        Status::invalid, ErrorClass::usage, {},
        fmt::format("found {} devices, expected 1 to {}", options.count, NEURON_MAX_DEVICES));
  }
  NEFFLD_ASSIGN(const DriverGeneration driver, find_generation(options.driver_minor));
  std::unique_ptr<Devices> devices(new Devices);
  devices->driver_version_ = driver.version;
  nds_user_share_spaces(true);
  if (const int error = nds_machine_create(&devices->machine_); error != 0) {
    return tl::unexpected(creation_error(0, error));
  }
  for (std::uint32_t index = 0; index < options.count; ++index) {
    nds_config config{};
    config.architecture = options.architecture;
    config.device_index = index;
    config.generation = driver.generation;
    config.strictness = options.clean_errors ? NDS_CLEAN : NDS_AS_MEASURED;
    config.page_bytes = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
    nds_device* device = nullptr;
    const int error = nds_device_create(devices->machine_, &config, &device);
    if (error != 0) return tl::unexpected(creation_error(index, error));
    devices->devices_.push_back(device);
    devices->computes_.push_back(
        std::make_unique<compute::DeviceCompute>(device, static_cast<Arch>(options.architecture)));
    const nds_compute face = devices->computes_.back()->face();
    nds_device_set_compute(device, NDS_COMPUTE_RUN, &face);
  }
  return devices;
}

Devices::~Devices() {
  for (nds_device* device : devices_) nds_device_destroy(device);
  if (machine_ != nullptr) nds_machine_destroy(machine_);
}

int Devices::open(const Request& request, std::int32_t process, std::shared_ptr<OpenFile>& file,
                  Descriptor& programs_end) {
  if (request.device >= devices_.size()) return -ENOENT;
  Descriptor ours;
  const std::string name = fmt::format("{}{} {} {}.{}", file_name_prefix, request.device,
                                       request.flags, getpid(), ++files_);
  if (const int error = make_sockets(name, ours, programs_end); error != 0) return error;
  nds_file* opened = nullptr;
  const int error = nds_file_open(devices_[request.device], process, request.flags, &opened);
  if (error != 0) return error;
  file = std::make_shared<OpenFile>(opened, request.device, request.flags, std::move(ours));
  file->hold(process);
  return 0;
}

}  // namespace neffld::shim
