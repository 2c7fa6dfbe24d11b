/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>

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

/* The sum over one folder of counters. */
static long long present(const char* folder, const char* const* names) {
  long long sum = 0;
  char path[128], text[32];

  for (; *names; names++) {
    snprintf(path, sizeof path, "%s/%s/present", folder, *names);
    if (host->fact(path, text, sizeof text) > 0) sum += atoll(text);
  }
  return sum;
}

long long memory_in_use(void) {
  static const char* const host_names[] = {
      "uncategorized", "application_memory", "tensors",   "constants", "dma_buffers",
      "driver_memory", "notifications",      "dma_rings", NULL,
  };
  static const char* const device_names[] = {
      "uncategorized",           "model_code",     "tensors",       "constants",
      "model_shared_scratchpad", "runtime_memory", "driver_memory", "collectives",
      "nonshared_scratchpad",    "notifications",  "dma_rings",     NULL,
  };
  long long sum = present("stats/memory_usage/host_mem", host_names);
  int core;

  for (core = 0; core < 8; core++) {
    char folder[64];

    snprintf(folder, sizeof folder, "neuron_core%d/stats/memory_usage/device_mem", core);
    sum += present(folder, device_names);
  }
  return sum;
}
