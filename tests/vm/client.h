/* SPDX-License-Identifier: MIT */
/* What a client does with a device, for the tests of this folder. */
#ifndef CLIENT_H
#define CLIENT_H

#include "host.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

extern const struct host* host;

struct memory {
  uint64_t bytes;
  uint64_t align;
  bool host;
  uint32_t type;
  uint32_t hbm;
};

int call(int file, uint32_t command, void* argument);
/* The handle, or 0 and *error. */
uint64_t allocate(int file, struct memory memory, int* error);
int free_handle(int file, uint64_t handle);
uint64_t address_of(int file, uint64_t handle);
/* `in`: from the buffer to the device. */
int copy(int file, uint64_t handle, uint64_t offset, const void* buffer, uint64_t bytes, bool in);
int fill(int file, uint64_t handle, uint64_t offset, uint64_t bytes, uint32_t value);
/* A buffer of repeatable bytes, and a number that stands for a buffer's bytes. */
void scramble(uint8_t* buffer, size_t bytes, uint32_t seed);
uint32_t digest(const uint8_t* buffer, size_t bytes);
/* Bytes in all of the device's counters of memory, the driver's own included. */
long long memory_in_use(void);

#endif
