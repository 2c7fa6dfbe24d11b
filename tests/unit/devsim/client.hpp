// SPDX-License-Identifier: MIT
// A device of the model and processes that use it, for the tests of this folder.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "nds.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

namespace devsim_test {

class Machine {
 public:
  Machine() { nds_machine_create(&machine_); }
  ~Machine() { nds_machine_destroy(machine_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  nds_machine* get() const { return machine_; }

 private:
  nds_machine* machine_ = nullptr;
};

class Device {
 public:
  /// On a machine of its own, or on a given one.
  explicit Device(const nds_config& config, const Machine* machine = nullptr) {
    status_ =
        nds_device_create((machine == nullptr ? machine_ : *machine).get(), &config, &device_);
  }
  explicit Device(std::uint32_t architecture, std::uint64_t hbm_bytes = 0)
      : Device(config_of(architecture, hbm_bytes)) {}
  ~Device() {
    if (device_ != nullptr) nds_device_destroy(device_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  nds_device* get() const { return device_; }
  int status() const { return status_; }
  nds_counters counters() const {
    nds_counters counters{};
    nds_device_counters(device_, &counters);
    return counters;
  }

  static nds_config config_of(std::uint32_t architecture, std::uint64_t hbm_bytes = 0) {
    nds_config config{};
    config.architecture = architecture;
    config.hbm_bytes = hbm_bytes;
    return config;
  }

 private:
  Machine machine_;
  nds_device* device_ = nullptr;
  int status_ = 0;
};

/// One open file of one process.
class Client {
 public:
  explicit Client(const Device& device, std::int32_t tgid = 100, std::uint32_t flags = 2)
      : tgid_(tgid) {
    status_ = nds_file_open(device.get(), tgid, flags, &file_);
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  int status() const { return status_; }
  nds_file* file() const { return file_; }

  void close() {
    if (file_ == nullptr) return;
    nds_file_flush(file_, tgid_);
    nds_file_release(file_);
    file_ = nullptr;
  }

  long raw(std::uint32_t command, std::uint64_t address) const {
    return nds_file_ioctl(file_, tgid_, command, address);
  }
  template <class T>
  long call(std::uint32_t command, T& argument) const {
    return raw(command, reinterpret_cast<std::uintptr_t>(&argument));
  }

  struct Memory {
    std::uint64_t size = 0;
    std::uint64_t align = 0;
    std::uint32_t host = 0;
    std::uint32_t hbm = 0;
    std::uint32_t nc = 0;
    std::uint32_t type = NEURON_MEM_TENSORS_DEVICE;
  };
  /// The result of the allocation; the handle goes to `handle`.
  long alloc(const Memory& memory, std::uint64_t& handle) const {
    neuron_mem_alloc_v2mt64 argument{};
    argument.size = memory.size;
    argument.align = memory.align;
    argument.host_memory = memory.host;
    argument.dram_channel = memory.hbm;
    argument.nc_id = memory.nc;
    argument.mem_type = memory.type;
    argument.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
    return call(NEURON_IOCTL_MEM_ALLOC_V2MT64, argument);
  }
  /// The handle, 0 if the allocation failed.
  std::uint64_t alloc(const Memory& memory) const {
    std::uint64_t handle = 0;
    return alloc(memory, handle) == 0 ? handle : 0;
  }
  /// The address of a new allocation, all ones if it failed.
  std::uint64_t place(const Memory& memory) const {
    const std::uint64_t handle = alloc(memory);
    return handle == 0 ? ~0ull : pa(handle);
  }
  long free(std::uint64_t handle) const {
    neuron_mem_free argument{handle};
    return call(NEURON_IOCTL_MEM_FREE, argument);
  }
  std::uint64_t pa(std::uint64_t handle) const {
    std::uint64_t address = ~0ull;
    neuron_mem_get_pa argument{handle, reinterpret_cast<std::uintptr_t>(&address)};
    return call(NEURON_IOCTL_MEM_GET_PA, argument) == 0 ? address : ~0ull;
  }
  long copy(std::uint64_t handle, const void* buffer, std::uint64_t size, std::uint64_t offset,
            bool in) const {
    neuron_mem_buf_copy64 argument{};
    argument.mem_handle = handle;
    argument.buffer_ptr = reinterpret_cast<std::uintptr_t>(buffer);
    argument.size = size;
    argument.offset = offset;
    argument.copy_to_mem_handle = in ? 1 : 0;
    return call(NEURON_IOCTL_MEM_BUF_COPY64, argument);
  }
  long write(std::uint64_t handle, const std::vector<std::uint8_t>& bytes,
             std::uint64_t offset = 0) const {
    return copy(handle, bytes.data(), bytes.size(), offset, true);
  }
  std::vector<std::uint8_t> read(std::uint64_t handle, std::size_t size,
                                 std::uint64_t offset = 0) const {
    std::vector<std::uint8_t> bytes(size);
    if (copy(handle, bytes.data(), size, offset, false) != 0) bytes.clear();
    return bytes;
  }

 private:
  nds_file* file_ = nullptr;
  std::int32_t tgid_;
  int status_ = 0;
};

inline std::vector<std::uint8_t> pattern(std::size_t size, std::uint32_t seed) {
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
  return bytes;
}

inline constexpr std::uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
inline constexpr std::uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
inline constexpr std::uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}

}  // namespace devsim_test
