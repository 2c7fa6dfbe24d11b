/* SPDX-License-Identifier: MIT */
/* mmap: by handle, by resource, and what it refuses (spec 06 section 6). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "smoke.h"

#define BYTES 0x10000u

static uint8_t bytes_in[BYTES], bytes_out[BYTES];

static struct mapping map(const char* name, int file, uint64_t offset, uint64_t bytes) {
  struct mapping mapping = host->map(file, offset, bytes);

  printf("map %s: %d %s\n", name, mapping.error,
         mapping.error ? "" : (mapping.writable ? "writable" : "read only"));
  return mapping;
}

static void by_handle(int file, bool in_host_memory) {
  int error;
  uint64_t handle = allocate(file, (struct memory){.bytes = BYTES, .host = in_host_memory}, &error);
  uint64_t pa = address_of(file, handle);
  struct mapping mapping = map("chunk", file, pa, BYTES);

  (void)map("too short", file, pa, BYTES - 4096);
  (void)map("too long", file, pa, BYTES + 4096);
  (void)map("nothing", file, pa + (1ull << 40), 4096);
  if (!mapping.at) return;
  scramble(bytes_in, BYTES, 3);
  memcpy(mapping.at, bytes_in, BYTES);
  say("read what was stored", copy(file, handle, 0, bytes_out, BYTES, false));
  expect("equal", (uint64_t)memcmp(bytes_in, bytes_out, BYTES), 0);
  say("fill with zero", fill(file, handle, 0, BYTES / 2, 0));
  say_hex("seen through the mapping", digest(mapping.at, BYTES));
  /* User memory that is the device's own: every page may fault inside the copy. */
  say("copy from the mapping", copy(file, handle, 0, mapping.at + BYTES / 2, BYTES / 2, true));
  say_hex("seen through the mapping", digest(mapping.at, BYTES));
  host->unmap(&mapping);
  /* The mapping of a place inside a chunk begins at the chunk's start. */
  mapping = map("inside a chunk", file, pa + 4096, BYTES);
  if (mapping.at) {
    say_hex("first bytes", digest(mapping.at, 16));
    host->unmap(&mapping);
  }
  say("free", free_handle(file, handle));
  (void)map("a freed chunk", file, pa, BYTES);
}

static void by_resource(int file) {
  static const struct {
    const char* name;
    uint32_t block, id, resource;
  } rows[] = {
      {"semaphores", NEURON_MMAP_BLOCK_TPB, 1, NEURON_MMAP_SEMAPHORE},
      {"SBUF", NEURON_MMAP_BLOCK_TPB, 0, NEURON_MMAP_SBUF},
      {"all of a TOPSP", NEURON_MMAP_BLOCK_TOPSP, 2, NEURON_MMAP_ALL},
      {"HBM", NEURON_MMAP_BLOCK_HBM, 1, NEURON_MMAP_DMEM},
      {"core 99", NEURON_MMAP_BLOCK_TPB, 99, NEURON_MMAP_SBUF},
      {"block 3", 3, 0, 0},
  };
  struct neuron_semaphore semaphore = {1, 17, 0x600D};
  size_t index;

  say("SEMAPHORE_WRITE", call(file, NEURON_IOCTL_SEMAPHORE_WRITE, &semaphore));
  for (index = 0; index < sizeof rows / sizeof rows[0]; index++) {
    struct neuron_resource_mmap_info info = {
        .block = rows[index].block, .block_id = rows[index].id, .resource = rows[index].resource};
    struct mapping mapping;
    uint32_t word;

    printf("resource %s: %d\n", rows[index].name,
           call(file, NEURON_IOCTL_RESOURCE_MMAP_INFO, &info));
    printf("at 0x%llx, 0x%llx bytes\n", (unsigned long long)info.offset,
           (unsigned long long)info.size);
    if (!info.size) continue;
    mapping = map(rows[index].name, file, info.offset, info.size);
    if (!mapping.at) continue;
    memcpy(&word, mapping.at + (index ? 0 : NEURON_EVENT_UNIT_SEM_READ + 17 * 4), sizeof word);
    say_hex("word", word);
    host->unmap(&mapping);
  }
}

void smoke_mappings(void) {
  int file = host->open(O_RDWR);

  by_handle(file, false);
  by_handle(file, true);
  by_resource(file);
  host->close(file);
}
