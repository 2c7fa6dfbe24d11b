/* SPDX-License-Identifier: MIT */
/* The device model in this process; the other process is another number. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"
#include "nds_user.h"

#define MOST_FILES 64

static struct nds_device* device;
static int32_t process = 100;
static struct {
  struct nds_file* file; /* NULL = free */
  int32_t process;       /* that opened it */
} files[MOST_FILES];

static int open_file(int flags) {
  int file = 0;
  int error;

  while (files[file].file) file++;
  files[file].process = process;
  error = nds_file_open(device, process, (uint32_t)flags, &files[file].file);
  return error ? error : file;
}

static void close_file(int file) {
  nds_file_flush(files[file].file, process);
  nds_file_release(files[file].file);
  files[file].file = NULL;
}

static int call_file(int file, uint32_t command, uint64_t argument) {
  return (int)nds_file_ioctl(files[file].file, process, command, argument);
}

static struct mapping map_file(int file, uint64_t offset, uint64_t bytes) {
  struct mapping mapping = {.bytes = bytes};
  struct nds_mapping found;

  mapping.error = nds_file_mmap(files[file].file, process, offset, bytes, &found);
  if (mapping.error) return mapping;
  mapping.at = nds_user_space_address(found.space, found.offset);
  mapping.writable = !found.read_only;
  return mapping;
}

static void unmap(struct mapping* mapping) {
  mapping->at = NULL;
}

static void as_other(void (*steps)(void* context), void* context) {
  int file;

  process++;
  steps(context);
  /* Its end closes what it left open. */
  for (file = 0; file < MOST_FILES; file++)
    if (files[file].file && files[file].process == process) close_file(file);
  process--;
}

static int fact(const char* path, char* text, size_t bytes) {
  if (path[0] == '/') return nds_class_fact(path + 1, text, bytes);
  return nds_device_fact(device, path, text, bytes);
}

const struct host* host_of_sim(const struct nds_config* config) {
  static const struct host host = {open_file, close_file, call_file, map_file,
                                   unmap,     as_other,   fact};
  struct nds_machine* machine;

  if (nds_machine_create(&machine) || nds_device_create(machine, config, &device)) {
    fprintf(stderr, "no such simulated device, or no memory for it\n");
    exit(2);
  }
  return &host;
}
