/* SPDX-License-Identifier: MIT */
/*
 * Where a test's calls go: to a device node, or to the device model in this process. The tests name
 * neither, so their output on both can be compared line by line.
 */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
  uint8_t* at; /* NULL after an error */
  uint64_t bytes;
  bool writable;
  int error; /* 0 or a negative errno */
};

struct host {
  /* A file number of the test, or a negative errno. `flags` are those of open(2). */
  int (*open)(int flags);
  void (*close)(int file);
  /* 0, a negative errno or the driver's positive result. */
  int (*call)(int file, uint32_t command, uint64_t argument);
  /* Maps for reading and writing. */
  struct mapping (*map)(int file, uint64_t offset, uint64_t bytes);
  void (*unmap)(struct mapping* mapping);
  /* Runs `steps` as another process, to its end. */
  void (*as_other)(void (*steps)(void* context), void* context);
  /* The text of a sysfs attribute of the device, or with a leading slash of its class; its length
   * or a negative errno. */
  int (*fact)(const char* path, char* text, size_t bytes);
};

struct nds_config;

/*
 * Prepares the target: the path of a node, or "sim:v3,64,27,1", the model of architecture 3 with
 * HBMs of 64 MiB (0: the real size), of driver generation 2.27, with clean errors. All numbers but
 * the first may be left out. Ends the program if it cannot.
 */
const struct host* host_of(const char* target);

/* The two kinds. */
const struct host* host_of_node(const char* path);
const struct host* host_of_sim(const struct nds_config* config);

#endif
