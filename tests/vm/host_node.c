/* SPDX-License-Identifier: MIT */
/* A device node; the other process is a child. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

static const char* node;

static int open_file(int flags) {
  int file = open(node, flags);

  return file < 0 ? -errno : file;
}

static void close_file(int file) {
  close(file);
}

static int call_file(int file, uint32_t command, uint64_t argument) {
  int result = ioctl(file, (unsigned long)command, argument);

  return result < 0 ? -errno : result;
}

/* The permissions of a mapping are not what was asked for if the driver took some away. */
static bool is_writable(const void* at) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  char permissions[5] = "";
  unsigned long start, end;

  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &start, &end, permissions) == 3 && start <= (uintptr_t)at &&
        (uintptr_t)at < end)
      break;
  if (maps) fclose(maps);
  return permissions[1] == 'w';
}

static struct mapping map_file(int file, uint64_t offset, uint64_t bytes) {
  struct mapping mapping = {.bytes = bytes};
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);

  if (at == MAP_FAILED) {
    mapping.error = -errno;
    return mapping;
  }
  mapping.at = at;
  mapping.writable = is_writable(at);
  return mapping;
}

static void unmap(struct mapping* mapping) {
  munmap(mapping->at, mapping->bytes);
}

static void as_other(void (*steps)(void* context), void* context) {
  pid_t child;

  fflush(stdout);
  child = fork();
  if (!child) {
    steps(context);
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static int fact(const char* path, char* text, size_t bytes) {
  char whole[256];
  FILE* file;
  size_t length;

  /* A leading slash leaves the name of the device out. */
  snprintf(whole, sizeof whole, "/sys/class/neuron_device/%s/%s",
           path[0] == '/' ? "" : strrchr(node, '/') + 1, path);
  file = fopen(whole, "r");
  if (!file) return -errno;
  length = fread(text, 1, bytes - 1, file);
  text[length] = '\0';
  fclose(file);
  return (int)length;
}

const struct host* host_of_node(const char* path) {
  static const struct host host = {open_file, close_file, call_file, map_file,
                                   unmap,     as_other,   fact};

  node = path;
  return &host;
}
