/* SPDX-License-Identifier: MIT */
/* Two processes, lifetimes, and counters that return to where they were. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smoke.h"

struct shared {
  int file; /* of the first process */
  uint64_t handle;
  uint64_t pa;
};

static long long fact(const char* path) {
  char text[64] = "-1";

  (void)host->fact(path, text, sizeof text);
  return atoll(text);
}

static void show_memory(const char* when) {
  printf("%s: device tensors %lld, host tensors %lld\n", when,
         fact("neuron_core0/stats/memory_usage/device_mem/tensors/present"),
         fact("stats/memory_usage/host_mem/tensors/present"));
}

/* The handles of another process may be used, and freed; only its mappings are read only. */
static void foreign(void* context) {
  const struct shared* shared = context;
  struct mapping mapping;
  uint8_t bytes[16] = {0};
  uint64_t own;
  int error, file;

  own = allocate(shared->file, (struct memory){.bytes = 4096}, &error);
  say("unattached allocation", error);
  say("unattached MEM_FREE", free_handle(shared->file, shared->handle));
  file = host->open(O_RDWR);
  say("foreign handle: read", copy(file, shared->handle, 0, bytes, sizeof bytes, false));
  say_hex("foreign handle: bytes", digest(bytes, sizeof bytes));
  say("foreign handle: write", copy(file, shared->handle, 4096, "foreign", 8, true));
  mapping = host->map(file, shared->pa, 8192);
  printf("foreign mapping: %d %s\n", mapping.error, mapping.writable ? "writable" : "read only");
  if (mapping.at) {
    say_hex("foreign mapping: bytes", digest(mapping.at, 16));
    host->unmap(&mapping);
  }
  own = allocate(file, (struct memory){.bytes = 64 << 10, .type = 9}, &error);
  say_hex("own handle", own);
  say_hex("own address", address_of(file, own));
  show_memory("both processes");
  host->close(file);
}

static void keeps_marks(void* context) {
  struct neuron_crwl_nc_map map = {.nc_count = 1, .end_nc_index = 1};

  (void)context;
  say("mark", call(host->open(O_WRONLY), NEURON_IOCTL_CRWL_NC_RANGE_MARK, &map));
  say_hex("marked", map.bitmap);
}

static void fill_slots(void) {
  int file[40];
  int count = 0;

  while (count < 40 && (file[count] = host->open(O_RDONLY)) >= 0) count++;
  /* All belong to one process, which takes one slot only. */
  say("opens of one process", count);
  while (count--) host->close(file[count]);
}

void smoke_processes(void) {
  struct shared shared;
  struct memory tensor = {.bytes = 8192, .type = NEURON_MEM_TENSORS_DEVICE};
  struct memory host_tensor = {.bytes = 8192, .host = true, .type = NEURON_MEM_TENSORS_HOST};
  uint8_t bytes[16];
  int error;

  show_memory("at first");
  shared.file = host->open(O_RDWR);
  shared.handle = allocate(shared.file, tensor, &error);
  shared.pa = address_of(shared.file, shared.handle);
  (void)allocate(shared.file, host_tensor, &error);
  say("write", copy(shared.file, shared.handle, 0, "sixteen letters", 16, true));
  show_memory("one process");
  host->as_other(foreign, &shared);
  show_memory("the other has gone");
  say("read", copy(shared.file, shared.handle, 4096, bytes, 8, false));
  say_hex("written by the other", digest(bytes, 8));
  host->as_other(keeps_marks, NULL);
  fill_slots();
  host->close(shared.file);
  show_memory("all have gone");
  /* Nothing of what was written is left. */
  shared.file = host->open(O_RDWR);
  shared.handle = allocate(shared.file, tensor, &error);
  expect("same address", address_of(shared.file, shared.handle), shared.pa);
  say("read", copy(shared.file, shared.handle, 0, bytes, 16, false));
  expect("zero again", digest(bytes, 16), digest((const uint8_t[16]){0}, 16));
  host->close(shared.file);
}
