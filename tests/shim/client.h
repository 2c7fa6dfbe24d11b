/* SPDX-License-Identifier: MIT */
/* What all parts of the client use. */
#ifndef NEFFLD_TESTS_SHIM_CLIENT_H
#define NEFFLD_TESTS_SHIM_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "neuron_abi/ioctl.h"

#define NODE "/dev/neuron0"

/* Checks that failed so far, in this process. */
extern int failures;

#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
      failures++;                                                                       \
    }                                                                                   \
  } while (0)

/* The compiler must not know these, or it picks the unchecked functions. */
extern volatile int read_write, read_only, write_only;
extern volatile size_t one;

static inline int alloc(int fd, uint64_t bytes, uint64_t* handle) {
  struct neuron_mem_alloc_v2mt64 argument = {.size = bytes,
                                             .mem_type = NEURON_MEM_TENSORS_DEVICE,
                                             .mem_handle_ptr = (uint64_t)(uintptr_t)handle};

  return ioctl(fd, NEURON_IOCTL_MEM_ALLOC_V2MT64, &argument);
}

static inline int copy(int fd, uint64_t handle, void* bytes, uint64_t size, int in) {
  struct neuron_mem_buf_copy64 argument = {.mem_handle = handle,
                                           .buffer_ptr = (uint64_t)(uintptr_t)bytes,
                                           .size = size,
                                           .copy_to_mem_handle = (uint32_t)in};

  return ioctl(fd, NEURON_IOCTL_MEM_BUF_COPY64, &argument);
}

static inline uint64_t address_of(int fd, uint64_t handle) {
  uint64_t pa = ~0ull;
  struct neuron_mem_get_pa argument = {.mem_handle = handle, .pa_ptr = (uint64_t)(uintptr_t)&pa};

  CHECK(ioctl(fd, NEURON_IOCTL_MEM_GET_PA, &argument) == 0);
  return pa;
}

static inline int answers(int fd) {
  struct neuron_device_basic_info info = {0};

  return ioctl(fd, NEURON_IOCTL_DEVICE_BASIC_INFO, &info) == 0 && info.architecture >= 2;
}

static inline int is_node(const struct stat* status, unsigned device) {
  return S_ISCHR(status->st_mode) && minor(status->st_rdev) == device;
}

static inline void read_fact(const char* path, char* text, size_t room) {
  FILE* file = fopen(path, "r");
  size_t got = 0;

  CHECK(file != NULL);
  if (file) {
    got = fread(text, 1, room - 1, file);
    fclose(file);
  }
  text[got] = 0;
}

/* Device memory in use, as sysfs tells it. */
#define PRESENT \
  "/sys/class/neuron_device/neuron0/neuron_core0/stats/memory_usage/device_mem/tensors/present"

/* Parts that see the devices as files: client_files.c. */
void test_open(void);
void test_descriptor(void);
void test_copies(void);
void test_stat(void);
void test_folders(void);
void test_sysfs(void);
/* Parts that use their memory, from several processes and threads: client_processes.c. */
void test_memory(void);
void test_fork(void);
void test_passing(void);
void test_crowd(void);
void test_share(void);
void test_threads(void);
void test_killed(void);
void test_exec(const char* self);
/* Exit statuses of the programs that test_exec and the tests outside start. */
int test_inherited(const char* number);
int work_until_told(const char* device, int rounds);

#endif
