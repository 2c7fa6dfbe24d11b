// SPDX-License-Identifier: MIT
// The in-process back end: files of the device model (devsim) behind the DeviceFile interface.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_compute.hpp"
#include "driver_generation.hpp"
#include "nds_user.h"
#include "neffld/sim_control.hpp"
#include "neuron_abi/ioctl.h"
#include "no_throw.hpp"

namespace neffld {
namespace {

using shim::out_of_memory;

Error device_error(std::string text, int error) {
  const bool no_memory = error == -ENOMEM;
  return {no_memory ? Status::fail_host_mem_alloc : Status::failure,
          no_memory ? ErrorClass::resource : ErrorClass::device,
          {},
          fmt::format("{}: {}", text, std::strerror(-error))};
}

/// The host that devices share: core marks, topology.
class Machine {
 public:
  ~Machine() {
    if (machine_ != nullptr) nds_machine_destroy(machine_);
  }
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  int create() { return nds_machine_create(&machine_); }
  nds_machine* get() const { return machine_; }

 private:
  nds_machine* machine_ = nullptr;
};

/// One device and its machine; every file keeps them alive.
class Model {
 public:
  Model(std::shared_ptr<Machine> machine, std::uint64_t page_bytes)
      : machine_(std::move(machine)), page_bytes_(page_bytes) {}
  ~Model() {
    if (device_ != nullptr) nds_device_destroy(device_);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  int create(const nds_config& config) {
    return nds_device_create(machine_->get(), &config, &device_);
  }
  nds_device* device() const { return device_; }
  std::uint64_t page_bytes() const { return page_bytes_; }

  /// Throws std::bad_alloc.
  void set_compute(SimCompute mode, Arch arch) {
    if (mode != SimCompute::run) {
      const auto other = mode == SimCompute::skip ? NDS_COMPUTE_SKIP : NDS_COMPUTE_REFUSE;
      return nds_device_set_compute(device_, other, nullptr);
    }
    compute_ = std::make_unique<compute::DeviceCompute>(device_, arch);
    const nds_compute face = compute_->face();
    nds_device_set_compute(device_, NDS_COMPUTE_RUN, &face);
  }
  /// Test-only. Nothing if the device does not compute.
  compute::DeviceCompute* compute() const { return compute_.get(); }

 private:
  std::shared_ptr<Machine> machine_;
  std::uint64_t page_bytes_;
  nds_device* device_ = nullptr;
  std::unique_ptr<compute::DeviceCompute> compute_;
};

/// An open file of the device, which ends with the last descriptor of it.
class OpenFile {
 public:
  OpenFile(std::shared_ptr<Model> model, nds_file* file) : model_(std::move(model)), file_(file) {}
  ~OpenFile() { nds_file_release(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  nds_file* get() const { return file_; }
  nds_device* device() const { return model_->device(); }
  std::uint64_t page_bytes() const { return model_->page_bytes(); }

 private:
  std::shared_ptr<Model> model_;
  nds_file* file_;
};

/// A descriptor of an open file, held by one process.
class SimFile final : public DeviceFile {
 public:
  SimFile(DeviceTraits traits, std::int32_t process)
      : traits_(std::move(traits)), process_(process) {}
  /// Another descriptor of the same open file.
  SimFile(const SimFile& other, std::int32_t process)
      : open_(other.open_), traits_(other.traits_), process_(process) {}
  ~SimFile() override {
    if (open_ != nullptr) nds_file_flush(file(), process_);
  }
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  int open(const std::shared_ptr<Model>& model, Access access) {
    nds_file* file = nullptr;
    const auto flags = static_cast<std::uint32_t>(access);
    const int error = nds_file_open(model->device(), process_, flags, &file);
    if (error != 0) return error;
    try {
      open_ = std::make_shared<OpenFile>(model, file);
    } catch (const std::bad_alloc&) {
      nds_file_flush(file, process_);
      nds_file_release(file);
      return -ENOMEM;
    }
    return 0;
  }
  int ioctl(std::uint32_t command, void* argument) noexcept override {
    return static_cast<int>(
        nds_file_ioctl(file(), process_, command, reinterpret_cast<std::uintptr_t>(argument)));
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    nds_mapping mapping{};
    const int error = map(offset, length, mapping);
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

  void limit_execution(std::chrono::milliseconds limit) noexcept override {
    constexpr std::int64_t longest = 0xFFFFFFFF;
    nds_device_set_execution_limit(
        open_->device(),
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(limit.count(), 0, longest)));
  }

 private:
  nds_file* file() const { return open_->get(); }

  /// The kernel's part, then the driver's: places are multiples of a page, lengths become whole
  /// pages.
  int map(std::uint64_t offset, std::uint64_t length, nds_mapping& mapping) const {
    const std::uint64_t mask = open_->page_bytes() - 1;
    if (length == 0 || (offset & mask) != 0) return -EINVAL;
    if (length > ~mask) return -ENOMEM;
    return nds_file_mmap(file(), process_, offset, (length + mask) & ~mask, &mapping);
  }

  std::shared_ptr<OpenFile> open_;
  DeviceTraits traits_;
  std::int32_t process_;
};

class SimDeviceImpl final : public SimDevice {
 public:
  SimDeviceImpl(std::shared_ptr<Model> model, DeviceTraits traits)
      : model_(std::move(model)), traits_(std::move(traits)) {}

  Result<std::unique_ptr<DeviceFile>> open() override {
    std::unique_ptr<DeviceFile> file;
    const int error = open_as(getpid(), Access::read_write, file);
    if (error == 0) return file;
    if (error == -ENOMEM) return out_of_memory();
    return tl::unexpected(device_error("open of " + traits_.name, error));
  }

  int open_as(std::int32_t process, Access access, std::unique_ptr<DeviceFile>& file) noexcept {
    try {
      auto made = std::make_unique<SimFile>(traits_, process);
      const int error = made->open(model_, access);
      if (error == 0) file = std::move(made);
      return error;
    } catch (const std::bad_alloc&) {
      return -ENOMEM;
    }
  }

  Counters counters() const override {
    nds_counters counters{};
    nds_device_counters(model_->device(), &counters);
    return {counters.live_handles, counters.live_device_bytes, counters.ioctls};
  }

  nds_device* model() const { return model_->device(); }
  compute::DeviceCompute* compute() const { return model_->compute(); }

 private:
  std::shared_ptr<Model> model_;
  DeviceTraits traits_;
};

Result<std::shared_ptr<SimDevice>> create_sim(const SimOptions& options,
                                              std::shared_ptr<Machine> machine, std::uint32_t index,
                                              std::uint32_t page_bytes = NEURON_PAGE_SIZE) {
  NEFFLD_ASSIGN(const auto driver, shim::find_generation(options.driver_minor));
  nds_config config{};
  config.architecture = options.architecture;
  config.device_index = index;
  config.hbm_bytes = options.hbm_bytes;
  config.generation = driver.generation;
  config.strictness = options.clean_errors ? NDS_CLEAN : NDS_AS_MEASURED;
  config.page_bytes = page_bytes;
  auto model = std::make_shared<Model>(std::move(machine), page_bytes);
  const int error = model->create(config);
  if (error == -EINVAL) {
    return unsupported(
        {}, fmt::format("no simulated device has architecture {} with {} bytes in each HBM and a "
                        "host with pages of {} bytes; architectures are 2, 3 and 4, an HBM holds "
                        "a multiple of 4096 bytes that is more than 16 MiB and at most the real "
                        "size, and pages are a power of two from 4096 to 65536",
                        options.architecture, options.hbm_bytes, page_bytes));
  }
  const std::string name = fmt::format("sim:v{}", options.architecture);
  if (error == -ENOMEM) {
    // HBMs and cores' memory are reserved, not used, so what is missing is nearly always address
    // space.
    return fail(Status::fail_host_mem_alloc, ErrorClass::resource, {},
                fmt::format("creating {}: no memory to reserve its HBMs, expected room for about "
                            "{} GiB of address space (ulimit -v unlimited)",
                            name, options.architecture == 2 ? 40 : 360));
  }
  if (error != 0) return tl::unexpected(device_error("creating " + name, error));
  model->set_compute(options.compute, static_cast<Arch>(options.architecture));
  return std::make_shared<SimDeviceImpl>(std::move(model), DeviceTraits{name, true});
}

Result<std::shared_ptr<Machine>> create_machine() {
  auto machine = std::make_shared<Machine>();
  if (machine->create() != 0) return out_of_memory();
  return machine;
}

/// SimDevice::create and sim_devices are the only makers of devices.
SimDeviceImpl& impl(SimDevice& device) {
  return static_cast<SimDeviceImpl&>(device);
}

}  // namespace

int sim_open_as(SimDevice& device, std::int32_t process, Access access,
                std::unique_ptr<DeviceFile>& file) noexcept {
  return impl(device).open_as(process, access, file);
}

int sim_share(const DeviceFile& file, std::int32_t process,
              std::unique_ptr<DeviceFile>& descriptor) noexcept {
  const auto* shared = dynamic_cast<const SimFile*>(&file);
  if (shared == nullptr) return -EBADF;
  try {
    descriptor = std::make_unique<SimFile>(*shared, process);
    return 0;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

Result<std::vector<std::shared_ptr<SimDevice>>> sim_devices(const SimOptions& options,
                                                            std::uint32_t count) {
  if (count == 0 || count > NEURON_MAX_DEVICES) {
    return fail(Status::invalid, ErrorClass::usage, {},
                fmt::format("found {} devices, expected 1 to {}", count, NEURON_MAX_DEVICES));
  }
  try {
    NEFFLD_ASSIGN(const auto machine, create_machine());
    std::vector<std::shared_ptr<SimDevice>> devices;
    for (std::uint32_t index = 0; index < count; ++index) {
      NEFFLD_ASSIGN(auto device, create_sim(options, machine, index));
      devices.push_back(std::move(device));
    }
    return devices;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::string> sim_fact(SimDevice& device, const std::string& path) {
  char text[256];
  const int length = nds_device_fact(impl(device).model(), path.c_str(), text, sizeof text);
  if (length >= 0) return std::string(text, static_cast<std::size_t>(length));
  return fail(Status::invalid, ErrorClass::usage, {.path = path},
              "no such attribute of a simulated device");
}

compute::DeviceCompute* sim_compute(SimDevice& device) noexcept {
  return impl(device).compute();
}

std::uint64_t sim_live_host_bytes(const SimDevice& device) noexcept {
  nds_counters counters{};
  nds_device_counters(static_cast<const SimDeviceImpl&>(device).model(), &counters);
  return counters.live_host_bytes;
}

std::uint64_t sim_memory_failures() noexcept {
  return nds_user_memory_failures();
}

void sim_set_schedule(SimDevice& device, std::uint64_t seed, bool keep_ring_order) noexcept {
  nds_device_set_schedule(impl(device).model(), seed, keep_ring_order ? 0 : NDS_SCHEDULE_NO_FIFO);
}

void sim_set_execution_limit(SimDevice& device, std::chrono::milliseconds limit) noexcept {
  constexpr std::int64_t longest = 0xFFFFFFFF;
  const std::int64_t count = std::clamp<std::int64_t>(limit.count(), 0, longest);
  nds_device_set_execution_limit(impl(device).model(), static_cast<std::uint32_t>(count));
}

void sim_set_observer(SimDevice& device, SimObserver* observer) noexcept {
  nds_observer seen{};
  seen.context = observer;
  seen.record = [](void* context, std::uint32_t core, std::uint32_t engine, std::uint32_t slot,
                   std::uint32_t opcode, std::uint64_t begin, std::uint64_t end) {
    static_cast<SimObserver*>(context)->record(
        {core, engine, slot, static_cast<std::uint8_t>(opcode), begin, end});
  };
  seen.transfer = [](void* context, std::uint32_t core, std::uint32_t engine, std::uint32_t queue,
                     std::uint64_t bytes, std::uint64_t begin, std::uint64_t end) {
    const bool direct = engine == NDS_OBSERVED_DIRECT;
    static_cast<SimObserver*>(context)->transfer(
        {core, direct, direct ? 0 : engine, queue, bytes, begin, end});
  };
  nds_device_set_observer(impl(device).model(), observer != nullptr ? &seen : nullptr);
}

SimExecutionCounters sim_execution_counters(SimDevice& device) noexcept {
  nds_exec_counters counters{};
  nds_device_exec_counters(impl(device).model(), &counters);
  return {counters.executions,      counters.failures,        counters.records,
          counters.compute_records, counters.skipped_compute, counters.direct_transfers};
}

Result<std::shared_ptr<SimDevice>> sim_device_with_pages(const SimOptions& options,
                                                         std::uint32_t page_bytes) {
  try {
    NEFFLD_ASSIGN(auto machine, create_machine());
    return create_sim(options, std::move(machine), 0, page_bytes);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::shared_ptr<SimDevice>> SimDevice::create(const SimOptions& options) {
  return sim_device_with_pages(options, NEURON_PAGE_SIZE);
}

}  // namespace neffld
