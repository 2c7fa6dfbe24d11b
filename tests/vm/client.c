/* SPDX-License-Identifier: MIT */
#include "client.h"

const struct host* host;

int call(int file, uint32_t command, void* argument) {
  return host->call(file, command, (uintptr_t)argument);
}

uint64_t allocate(int file, struct memory memory, int* error) {
  uint64_t handle = 0;
  struct neuron_mem_alloc_v2mt64 argument = {
      .size = memory.bytes,
      .align = memory.align,
      .host_memory = memory.host,
      .dram_channel = memory.hbm,
      .mem_type = memory.type,
      .mem_handle_ptr = (uintptr_t)&handle,
  };

  *error = call(file, NEURON_IOCTL_MEM_ALLOC_V2MT64, &argument);
  return *error ? 0 : handle;
}

int free_handle(int file, uint64_t handle) {
  struct neuron_mem_free argument = {handle};

  return call(file, NEURON_IOCTL_MEM_FREE, &argument);
}

uint64_t address_of(int file, uint64_t handle) {
  uint64_t pa = ~0ull;
  struct neuron_mem_get_pa argument = {handle, (uintptr_t)&pa};

  return call(file, NEURON_IOCTL_MEM_GET_PA, &argument) ? ~0ull : pa;
}

int copy(int file, uint64_t handle, uint64_t offset, const void* buffer, uint64_t bytes, bool in) {
  struct neuron_mem_buf_copy64 argument = {handle, (uintptr_t)buffer, bytes, offset, in};

  return call(file, NEURON_IOCTL_MEM_BUF_COPY64, &argument);
}

int fill(int file, uint64_t handle, uint64_t offset, uint64_t bytes, uint32_t value) {
  struct neuron_memset64 argument = {
      .mem_handle = handle, .offset = offset, .value = value, .size = bytes};

  return call(file, NEURON_IOCTL_MEMSET64, &argument);
}

void scramble(uint8_t* buffer, size_t bytes, uint32_t seed) {
  size_t index;

  for (index = 0; index < bytes; index++) {
    seed = seed * 1664525u + 1013904223u;
    buffer[index] = (uint8_t)(seed >> 24);
  }
}

uint32_t digest(const uint8_t* buffer, size_t bytes) {
  uint32_t value = 2166136261u;
  size_t index;

  for (index = 0; index < bytes; index++) value = (value ^ buffer[index]) * 16777619u;
  return value;
}
