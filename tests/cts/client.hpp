// SPDX-License-Identifier: MIT
// Typed calls on an open device. Results are the driver's own: 0, a negative errno, or a positive
// residue (spec 06 section 2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neffld/device_file.hpp"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

namespace neffld::cts {

using Bytes = std::vector<std::uint8_t>;

/// The address of a variable, as the driver takes user pointers.
inline std::uint64_t pointer(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
/// An address no process has mapped.
inline constexpr std::uint64_t bad_pointer = 8;

/// An allocation to ask for.
struct Memory {
  std::uint64_t size = 0;
  std::uint64_t align = 0;
  std::uint32_t host = 0;
  std::uint32_t hbm = 0;
  std::uint32_t nc = 0;
  std::uint32_t type = NEURON_MEM_TENSORS_DEVICE;
};

struct QueueStates {
  neuron_dma_queue_state tx{}, rx{};
};

class Client {
 public:
  explicit Client(std::unique_ptr<DeviceFile> file) : file_(std::move(file)) {}

  DeviceFile& file() const { return *file_; }
  int raw(std::uint32_t command, void* argument) const { return file_->ioctl(command, argument); }
  int at(std::uint32_t command, std::uint64_t address) const {
    return raw(command, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)));
  }
  template <class T>
  int call(std::uint32_t command, T& argument) const {
    return raw(command, &argument);
  }

  int alloc(const Memory& memory, std::uint64_t& handle) const;
  int free(std::uint64_t handle) const;
  int pa(std::uint64_t handle, std::uint64_t& address) const;
  int copy(std::uint64_t handle, const void* buffer, std::uint64_t size, std::uint64_t offset,
           bool in) const;
  int write(std::uint64_t handle, const Bytes& bytes, std::uint64_t offset = 0) const;
  /// `bytes` says how many.
  int read(std::uint64_t handle, Bytes& bytes, std::uint64_t offset = 0) const;
  int copy_chunk(std::uint64_t from, std::uint64_t to, std::uint64_t size,
                 std::uint64_t from_offset = 0, std::uint64_t to_offset = 0) const;
  int fill(std::uint64_t handle, std::uint64_t offset, std::uint32_t value,
           std::uint64_t size) const;

  int queue_init(neuron_dma_queue_init entry) const;
  int queue_states(std::uint32_t engine, std::uint32_t queue, QueueStates& states) const;
  int descriptors(std::uint64_t handle, const void* from, std::uint32_t count, std::uint64_t offset,
                  std::uint32_t queue_type) const;
  int copy_out(std::uint32_t engine, std::uint32_t queue, std::uint32_t type, std::uint32_t start,
               std::uint32_t count, void* to) const;
  int copy_start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx,
                 std::uint32_t rx) const;
  int program(std::uint64_t address, const void* from, std::uint64_t size,
              std::uint32_t nc = 0) const;

  int semaphore(std::uint32_t command, std::uint32_t nc, std::uint32_t index,
                std::uint32_t& value) const;
  int event(std::uint32_t command, std::uint32_t nc, std::uint32_t index,
            std::uint32_t& value) const;
  int core_init(std::uint32_t nc, std::uint32_t state, std::uint32_t& new_state) const;
  int lock(std::uint32_t command, std::uint32_t nc, std::uint8_t uuid) const;
  /// BAR_READ or BAR_WRITE of one register; `offset` from the start of the register BAR.
  int registers(std::uint32_t command, std::uint64_t offset, std::uint32_t& value,
                std::uint32_t bar = 0) const;

 private:
  std::unique_ptr<DeviceFile> file_;
};

/// Reproducible bytes without repetition.
Bytes pattern(std::size_t size, std::uint32_t seed);

}  // namespace neffld::cts
