// SPDX-License-Identifier: MIT
// The in-process back end: files of the device model (devsim) behind the DeviceFile interface.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "nds_user.h"
#include "neffld/sim_facts.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld {
namespace {

constexpr std::uint32_t read_write_flags = 2;  // O_RDWR: attached, not free access

Error device_error(std::string text, int error) {
  return {error == -ENOMEM ? Status::fail_host_mem_alloc : Status::failure,
          ErrorClass::device,
          {},
          fmt::format("{}: {}", text, std::strerror(-error))};
}

// The text is short enough to need no memory itself.
tl::unexpected<Error> out_of_memory() {
  return fail(Status::fail_host_mem_alloc, ErrorClass::resource, {}, "out of memory");
}

/// The model's machine and device; every file keeps it alive.
class Model {
 public:
  ~Model() {
    if (device_ != nullptr) nds_device_destroy(device_);
    if (machine_ != nullptr) nds_machine_destroy(machine_);
  }
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  int create(const nds_config& config) {
    const int error = nds_machine_create(&machine_);
    return error != 0 ? error : nds_device_create(machine_, &config, &device_);
  }

  nds_device* device() const { return device_; }

 private:
  nds_machine* machine_ = nullptr;
  nds_device* device_ = nullptr;
};

class SimFile final : public DeviceFile {
 public:
  SimFile(std::shared_ptr<Model> model, DeviceTraits traits)
      : model_(std::move(model)), traits_(std::move(traits)), process_(getpid()) {}
  ~SimFile() override {
    if (file_ == nullptr) return;
    nds_file_flush(file_, process_);
    nds_file_release(file_);
  }
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  int open() { return nds_file_open(model_->device(), process_, read_write_flags, &file_); }

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    return static_cast<int>(
        nds_file_ioctl(file_, process_, command, reinterpret_cast<std::uintptr_t>(argument)));
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    nds_mapping mapping{};
    const int error = nds_file_mmap(file_, process_, offset, length, &mapping);
    if (error != 0) {
      return tl::unexpected(device_error(
          fmt::format("mmap of {} bytes at device offset {:#x}", length, offset), error));
    }
    if (writable && mapping.read_only) {
      // The driver strips the write permission in silence and a store then faults. Here the memory
      // is the device's own, so a writable view cannot be taken back: refuse it.
      return tl::unexpected(device_error(
          fmt::format("device offset {:#x} may only be mapped for reading", offset), -EACCES));
    }
    return nds_user_space_address(mapping.space, mapping.offset);
  }

  // A mapping is a view of the device's memory, which stays until the device goes.
  void munmap(void* /*address*/, std::uint64_t /*length*/) noexcept override {}

  const DeviceTraits& traits() const noexcept override { return traits_; }

 private:
  std::shared_ptr<Model> model_;
  nds_file* file_ = nullptr;
  DeviceTraits traits_;
  std::int32_t process_;
};

class SimDeviceImpl final : public SimDevice {
 public:
  SimDeviceImpl(std::shared_ptr<Model> model, DeviceTraits traits)
      : model_(std::move(model)), traits_(std::move(traits)) {}

  Result<std::unique_ptr<DeviceFile>> open() override {
    try {
      auto file = std::make_unique<SimFile>(model_, traits_);
      const int error = file->open();
      if (error != 0) return tl::unexpected(device_error("open of " + traits_.name, error));
      return file;
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    }
  }

  Counters counters() const override {
    nds_counters counters{};
    nds_device_counters(model_->device(), &counters);
    return {counters.live_handles, counters.live_device_bytes, counters.ioctls};
  }

  std::optional<std::string> fact(const std::string& path) const {
    std::array<char, 256> text{};
    const int length = nds_device_fact(model_->device(), path.c_str(), text.data(), text.size());
    if (length < 0) return std::nullopt;
    return std::string(text.data());
  }

 private:
  std::shared_ptr<Model> model_;
  DeviceTraits traits_;
};

/// The generation of a minor driver version, or nothing.
std::optional<nds_generation> generation_of(std::uint32_t driver_minor) {
  switch (driver_minor) {
    case 24:
      return NDS_GENERATION_2_24;
    case 27:
      return NDS_GENERATION_2_27;
    case 30:
      return NDS_GENERATION_2_30;
    default:
      return std::nullopt;
  }
}

Result<std::shared_ptr<SimDevice>> create_sim(const SimOptions& options) {
  const auto generation = generation_of(options.driver_minor);
  if (!generation) {
    return unsupported({}, fmt::format("no simulated driver has version 2.{}; versions are 2.24, "
                                       "2.27 and 2.30",
                                       options.driver_minor));
  }
  nds_config config{};
  config.architecture = options.architecture;
  config.hbm_bytes = options.hbm_bytes;
  config.generation = *generation;
  config.strictness = options.clean_errors ? NDS_CLEAN : NDS_AS_MEASURED;
  auto model = std::make_shared<Model>();
  const int error = model->create(config);
  if (error == -EINVAL) {
    return unsupported(
        {}, fmt::format("no simulated device has architecture {} with {} bytes in each HBM; "
                        "architectures are 2, 3 and 4, and an HBM holds a multiple of 4096 bytes "
                        "that is more than 16 MiB and at most the real size",
                        options.architecture, options.hbm_bytes));
  }
  const std::string name = fmt::format("sim:v{}", options.architecture);
  if (error != 0) return tl::unexpected(device_error("creating " + name, error));
  return std::make_shared<SimDeviceImpl>(std::move(model), DeviceTraits{name, true});
}

}  // namespace

std::optional<std::string> sim_fact(const SimDevice& device, const std::string& path) {
  // No other class implements SimDevice.
  return static_cast<const SimDeviceImpl&>(device).fact(path);
}

Result<std::shared_ptr<SimDevice>> SimDevice::create(const SimOptions& options) {
  try {
    return create_sim(options);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace neffld
