// SPDX-License-Identifier: MIT
#include "client.hpp"

namespace neffld::cts {

int Client::alloc(const Memory& memory, std::uint64_t& handle) const {
  neuron_mem_alloc_v2mt64 argument{};
  argument.size = memory.size;
  argument.align = memory.align;
  argument.host_memory = memory.host;
  argument.dram_channel = memory.hbm;
  argument.nc_id = memory.nc;
  argument.mem_type = memory.type;
  argument.mem_handle_ptr = pointer(&handle);
  return call(NEURON_IOCTL_MEM_ALLOC_V2MT64, argument);
}

int Client::free(std::uint64_t handle) const {
  neuron_mem_free argument{handle};
  return call(NEURON_IOCTL_MEM_FREE, argument);
}

int Client::pa(std::uint64_t handle, std::uint64_t& address) const {
  neuron_mem_get_pa argument{handle, pointer(&address)};
  return call(NEURON_IOCTL_MEM_GET_PA, argument);
}

int Client::copy(std::uint64_t handle, const void* buffer, std::uint64_t size, std::uint64_t offset,
                 bool in) const {
  neuron_mem_buf_copy64 argument{handle, pointer(buffer), size, offset, in ? 1u : 0u};
  return call(NEURON_IOCTL_MEM_BUF_COPY64, argument);
}

int Client::write(std::uint64_t handle, const Bytes& bytes, std::uint64_t offset) const {
  return copy(handle, bytes.data(), bytes.size(), offset, true);
}

int Client::read(std::uint64_t handle, Bytes& bytes, std::uint64_t offset) const {
  return copy(handle, bytes.data(), bytes.size(), offset, false);
}

int Client::copy_chunk(std::uint64_t from, std::uint64_t to, std::uint64_t size,
                       std::uint64_t from_offset, std::uint64_t to_offset) const {
  neuron_mem_copy64 argument{from, to, size, from_offset, to_offset};
  return call(NEURON_IOCTL_MEM_COPY64, argument);
}

int Client::fill(std::uint64_t handle, std::uint64_t offset, std::uint32_t value,
                 std::uint64_t size) const {
  neuron_memset64 argument{handle, offset, value, size};
  return call(NEURON_IOCTL_MEMSET64, argument);
}

int Client::queue_init(neuron_dma_queue_init entry) const {
  return call(NEURON_IOCTL_DMA_QUEUE_INIT, entry);
}

int Client::queue_states(std::uint32_t engine, std::uint32_t queue, QueueStates& states) const {
  neuron_dma_queue_get_state argument{engine, queue, pointer(&states.tx), pointer(&states.rx)};
  return call(NEURON_IOCTL_DMA_QUEUE_GET_STATE, argument);
}

int Client::descriptors(std::uint64_t handle, const void* from, std::uint32_t count,
                        std::uint64_t offset, std::uint32_t queue_type) const {
  neuron_dma_copy_descriptors64 argument{handle, pointer(from), count, offset, queue_type};
  return call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument);
}

int Client::copy_out(std::uint32_t engine, std::uint32_t queue, std::uint32_t type,
                     std::uint32_t start, std::uint32_t count, void* to) const {
  neuron_dma_descriptor_copyout argument{engine, queue, type, start, count, pointer(to)};
  return call(NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, argument);
}

int Client::copy_start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx,
                       std::uint32_t rx) const {
  neuron_dma_queue_copy_start argument{engine, queue, tx, rx};
  return call(NEURON_IOCTL_DMA_QUEUE_COPY_START, argument);
}

int Client::program(std::uint64_t address, const void* from, std::uint64_t size,
                    std::uint32_t nc) const {
  neuron_program_engine_nc64 argument{nc, address, pointer(from), size, 0};
  return call(NEURON_IOCTL_PROGRAM_ENGINE_NC64, argument);
}

int Client::semaphore(std::uint32_t command, std::uint32_t nc, std::uint32_t index,
                      std::uint32_t& value) const {
  neuron_semaphore argument{nc, index, value};
  const int result = call(command, argument);
  value = argument.value;
  return result;
}

int Client::event(std::uint32_t command, std::uint32_t nc, std::uint32_t index,
                  std::uint32_t& value) const {
  neuron_event argument{nc, index, value};
  const int result = call(command, argument);
  value = argument.value;
  return result;
}

int Client::core_init(std::uint32_t nc, std::uint32_t state, std::uint32_t& new_state) const {
  neuron_cinit_set_state argument{nc, state, new_state};
  const int result = call(NEURON_IOCTL_CINIT_SET_STATE, argument);
  new_state = argument.new_state;
  return result;
}

int Client::lock(std::uint32_t command, std::uint32_t nc, std::uint8_t uuid) const {
  neuron_crwl argument{};
  argument.nc_id = nc;
  argument.uuid[0] = uuid;
  return call(command, argument);
}

int Client::registers(std::uint32_t command, std::uint64_t offset, std::uint32_t& value,
                      std::uint32_t bar) const {
  neuron_device_info info{};
  const int result = call(NEURON_IOCTL_DEVICE_INFO, info);
  if (result != 0) return result;
  std::uint64_t address = info.bar_address[0] + offset;
  neuron_bar_rw argument{bar, pointer(&address), pointer(&value), 1};
  return call(command, argument);
}

Bytes pattern(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
  return bytes;
}

}  // namespace neffld::cts
