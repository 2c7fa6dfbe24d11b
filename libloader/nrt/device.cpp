// SPDX-License-Identifier: MIT
#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "neffld/back_ends.hpp"
#include "neffld/forwarding_file.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld::nrt {

namespace {

/// The counter of a memory category (spec 07 section 6.4).
Counter counter_of(std::uint32_t category) {
  switch (category) {
    case NEURON_MEM_CODE_DEVICE:
      return Counter::code_bytes;
    case NEURON_MEM_TENSORS_DEVICE:
      return Counter::tensor_bytes;
    case NEURON_MEM_CONSTANTS_DEVICE:
      return Counter::constant_bytes;
    case NEURON_MEM_SCRATCHPAD_DEVICE:
    case NEURON_MEM_SCRATCHPAD_NONSHARED_DEVICE:
    case NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE:
      return Counter::scratchpad_bytes;
    default:
      return Counter::other_bytes;
  }
}

}  // namespace

/// Passes everything on and keeps count of the memory each core holds.
class CountingFile final : public ForwardingFile {
 public:
  explicit CountingFile(std::unique_ptr<DeviceFile> inner) : ForwardingFile(std::move(inner)) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    if (command == NEURON_IOCTL_MEM_FREE) {
      // The row goes first: once the handle is free another thread may get the same number.
      auto row = take_row(static_cast<const neuron_mem_free*>(argument)->mem_handle);
      const int answer = inner_->ioctl(command, argument);
      if (answer != 0) put_back(std::move(row));
      return answer;
    }
    const int answer = inner_->ioctl(command, argument);
    if (answer == 0 && command == NEURON_IOCTL_MEM_ALLOC_V2MT64) {
      count_allocation(*static_cast<const neuron_mem_alloc_v2mt64*>(argument));
    }
    return answer;
  }

  std::uint64_t bytes_on_core(std::uint32_t core) const {
    const std::scoped_lock lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [place, bytes] : used_) {
      if (place.first == core) sum += bytes;
    }
    return sum;
  }
  /// From now on the store learns of every change; null ends that.
  void report_to(DataStore* store) {
    const std::scoped_lock lock(mutex_);
    store_ = store;
  }

 private:
  using Place = std::pair<std::uint32_t, Counter>;  ///< core, what its memory is for
  struct Allocation {
    Place place;
    std::uint64_t bytes;
  };
  using Rows = std::map<std::uint64_t, Allocation>;  // by handle; inserting a node needs no memory
  // Without memory for a row the count is off by it, which is better than a failed call.
  void count_allocation(const neuron_mem_alloc_v2mt64& alloc) noexcept {
    constexpr std::uint64_t page = 4096;  // the driver's granule
    try {
      std::uint64_t handle = 0;
      std::memcpy(&handle, reinterpret_cast<const void*>(alloc.mem_handle_ptr), sizeof handle);
      const Allocation row{{alloc.nc_id, counter_of(alloc.mem_type)},
                           (alloc.size + page - 1) / page * page};
      const std::scoped_lock lock(mutex_);
      std::uint64_t& used = used_[row.place];
      if (!live_.emplace(handle, row).second) return;
      used += row.bytes;
      report(row.place);
    } catch (const std::bad_alloc&) {
    }
  }
  Rows::node_type take_row(std::uint64_t handle) noexcept {
    const std::scoped_lock lock(mutex_);
    Rows::node_type row = live_.extract(handle);
    if (!row) return row;
    used_.at(row.mapped().place) -= row.mapped().bytes;
    report(row.mapped().place);
    return row;
  }
  void put_back(Rows::node_type row) noexcept {
    const std::scoped_lock lock(mutex_);
    if (!row) return;
    used_.at(row.mapped().place) += row.mapped().bytes;
    report(row.mapped().place);
    live_.insert(std::move(row));
  }

  void report(const Place& place) noexcept {
    if (store_ != nullptr) store_->set(place.first, place.second, used_.at(place));
  }

  mutable std::mutex mutex_;
  Rows live_;
  std::map<Place, std::uint64_t> used_;  ///< bytes
  DataStore* store_ = nullptr;
};

namespace {

constexpr std::size_t printk_bytes = 512;  ///< a line of the kernel's log at most, with its end

}  // namespace

Device::Device(std::uint32_t number, const DeviceSettings& settings,
               std::shared_ptr<CountingFile> file, std::unique_ptr<Session> session)
    : number_(number),
      settings_(settings),
      file_(std::move(file)),
      marks_(file_),
      session_(std::move(session)) {}

Device::~Device() {
  session_.reset();
  file_->report_to(nullptr);
}

Result<std::shared_ptr<Device>> Device::open(const Topology& topology, std::uint32_t number,
                                             const DeviceSettings& settings) {
  DeviceOptions options;
  options.name = topology.device;
  if (settings.skip_compute) options.sim_compute = SimCompute::skip;
  NEFFLD_ASSIGN(OpenedDevice opened, open_device(options));
  auto file = std::make_shared<CountingFile>(std::move(opened.file));
  NEFFLD_ASSIGN(std::unique_ptr<Session> session,
                Session::open(std::make_unique<ForwardingFile>(file)));
  std::shared_ptr<Device> device(new Device(number, settings, std::move(file), std::move(session)));
  device->store_ = DataStore::open(device->file_);
  device->file_->report_to(device->store_.get());
  return device;
}

Result<CoreRange> Device::reserve(const CoreRange& wanted, bool exact, const Topology& topology) {
  return marks_.take(wanted, exact, topology);
}

void Device::print(std::string_view line) noexcept {
  char text[printk_bytes];
  while (!line.empty()) {
    const std::size_t part = std::min(line.size(), sizeof text - 1);
    std::memcpy(text, line.data(), part);
    text[part] = 0;
    neuron_printk argument{};
    argument.buffer_ptr = reinterpret_cast<std::uintptr_t>(text);
    argument.size = static_cast<std::uint32_t>(part + 1);
    if (file_->ioctl(NEURON_IOCTL_PRINTK, &argument) != 0) return;
    line.remove_prefix(part);
  }
}

// DeviceCalls counts calls without a lock, so each use has its own.
Result<DeviceMemory> Device::allocate(std::uint64_t size, std::uint32_t hbm, std::uint32_t core,
                                      std::string owner) {
  Request request;
  request.size = size;
  request.hbm = hbm;
  request.core = core;
  request.category = tensor_category;
  request.owner = std::move(owner);
  return DeviceCalls(*file_).allocate(request);
}

Result<void> Device::free(std::uint64_t handle) {
  return DeviceCalls(*file_).free(handle);
}

Result<void> Device::copy_in(std::uint64_t handle, std::uint64_t offset, Bytes bytes) {
  return DeviceCalls(*file_).copy_in(handle, offset, bytes);
}

Result<void> Device::copy_out(std::uint64_t handle, std::uint64_t offset, MutableBytes bytes) {
  return DeviceCalls(*file_).copy_out(handle, offset, bytes);
}

void* Device::map(const DeviceMemory& memory) {
  neuron_mem_get_extended_info info{};
  info.mem_handle = memory.handle;
  info.version = 1;
  if (file_->ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) != 0) return nullptr;
  const auto address = file_->mmap(info.mmap_offset, info.size, true);
  return address ? *address : nullptr;
}

void Device::unmap(void* address, std::uint64_t size) {
  file_->munmap(address, size);
}

std::uint64_t Device::bytes_on_core(std::uint32_t core) const {
  return file_->bytes_on_core(core);
}

}  // namespace neffld::nrt
