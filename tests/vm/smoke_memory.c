/* SPDX-License-Identifier: MIT */
/* Allocations, copies and fills. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smoke.h"

#define MIB 0x100000ull
#define BUFFER (2 * MIB)

static uint32_t architecture(int file) {
  struct neuron_device_basic_info info = {0};

  (void)call(file, NEURON_IOCTL_DEVICE_BASIC_INFO, &info);
  return info.architecture;
}

/* The worked example of spec 03 section 10.1; the pools of V2 lie lower. */
static void worked_example(int file) {
  uint64_t shift = architecture(file) == NEURON_ARCH_V2 ? 0x200000000ull : 0;
  static const struct {
    const char* name;
    struct memory memory;
    uint64_t pa;
    bool from_top;
  } rows[] = {
      {"scratchpad 512 MiB", {.bytes = 512 * MIB, .align = 4 * MIB, .type = 11}, 0x1000000, false},
      {"weight 3 MiB", {.bytes = 3 * MIB, .type = 10}, 0x21000000, false},
      {"weight 100 KiB", {.bytes = 100 << 10, .type = 10}, 0x5C0000000, true},
      {"buffer 4 bytes", {.bytes = 4, .type = 12}, 0x5C0019000, true},
      {"aligned 640 KiB", {.bytes = 640 << 10, .align = 64 << 10, .type = 8}, 0x21300000, false},
      {"page 64 MiB", {.bytes = 64 * MIB, .type = 19}, 0x5BC000000, true},
      {"page 64 MiB more", {.bytes = 64 * MIB, .type = 19}, 0x5B8000000, true},
  };
  uint64_t handle[sizeof rows / sizeof rows[0]];
  size_t index;
  int error;

  for (index = 0; index < sizeof rows / sizeof rows[0]; index++) {
    handle[index] = allocate(file, rows[index].memory, &error);
    expect(rows[index].name, address_of(file, handle[index]),
           rows[index].pa - (rows[index].from_top ? shift : 0));
    expect("handle", handle[index], index + 1);
  }
  while (index--) say("free", free_handle(file, handle[index]));
}

static void odd_requests(int file) {
  static const struct memory odd[] = {
      {.bytes = 0},
      {.bytes = 1ull << 63},
      {.bytes = (1ull << 63) - 1},
      {.bytes = ~0ull},
      {.bytes = 4096, .hbm = 9},
      {.bytes = 4096, .align = 1ull << 31},
      {.bytes = 4096, .align = 4097},
      {.bytes = 4096, .align = 12288},
      {.bytes = 4096, .host = true, .align = 1},
      {.bytes = 1ull << 30, .host = true},
      {.bytes = 3, .host = true, .type = 99},
  };
  size_t index;
  int error;

  for (index = 0; index < sizeof odd / sizeof odd[0]; index++) {
    uint64_t handle = allocate(file, odd[index], &error);

    say("odd request", error);
    if (!handle) continue;
    say_hex("at", address_of(file, handle));
    say("free", free_handle(file, handle));
  }
  say("free twice", free_handle(file, 1));
  say("free 0", free_handle(file, 0));
  say("free 2^32 + 1", free_handle(file, (1ull << 32) + 1));
}

static const uint8_t zeros[BUFFER];

static void copies(int file, uint8_t* in, uint8_t* out) {
  int error;
  uint64_t device = allocate(file, (struct memory){.bytes = BUFFER, .type = 9}, &error);
  uint64_t there = allocate(file, (struct memory){.bytes = BUFFER, .host = true}, &error);
  struct neuron_mem_copy64 move = {device, there, BUFFER - 5, 5, 0};
  struct neuron_mem_copy64 overlap = {device, device, MIB, 0, 4097};
  struct neuron_mem_copy64 back = {device, device, MIB, 4097, 0};

  scramble(in, BUFFER, 7);
  say("fresh read", copy(file, device, 0, out, BUFFER, false));
  expect("fresh bytes", digest(out, BUFFER), digest(zeros, BUFFER));
  say("write", copy(file, device, 0, in, BUFFER, true));
  say("read", copy(file, device, 0, out, BUFFER, false));
  expect("bytes", (uint64_t)memcmp(in, out, BUFFER), 0);
  say("write across pages", copy(file, device, 4095, in, 8194, true));
  say("read across pages", copy(file, device, 4090, out, 8205, false));
  expect("bytes", digest(out + 5, 8194), digest(in, 8194));
  say("chunk to chunk", call(file, NEURON_IOCTL_MEM_COPY64, &move));
  say("read", copy(file, there, 0, out, BUFFER, false));
  say_hex("bytes", digest(out, BUFFER));
  say("overlapping up", call(file, NEURON_IOCTL_MEM_COPY64, &overlap));
  say("overlapping down", call(file, NEURON_IOCTL_MEM_COPY64, &back));
  say("read", copy(file, device, 0, out, BUFFER, false));
  say_hex("bytes", digest(out, BUFFER));
  say("fill", fill(file, device, 4000, 200, 0x1A5));
  say("fill with zero", fill(file, device, 8000, MIB, 0));
  say("read", copy(file, device, 0, out, BUFFER, false));
  say_hex("bytes", digest(out, BUFFER));
  say("size 0 at the end", copy(file, device, BUFFER, out, 0, false));
  say("size 0 behind it", copy(file, device, BUFFER + 1, out, 0, false));
  say("one too many", copy(file, device, 1, out, BUFFER, false));
  say("wrapping offset", copy(file, device, ~0ull - 7, out, 16, false));
  say("2^63", copy(file, device, 1ull << 63, out, 1ull << 63, false));
  say("2^32 too many", copy(file, device, 0, out, (1ull << 32) + 100, false));
  say("fill too many", fill(file, device, 1, ~0ull, 1));
  say("free", free_handle(file, there));
  say("copy to freed", call(file, NEURON_IOCTL_MEM_COPY64, &move));
  say("free", free_handle(file, device));
  say("use after free", copy(file, device, 0, out, 16, false));
}

/* One handle reaches the whole contiguous scratchpad up to the end of the pool. */
static void contiguous(int file, uint8_t* in, uint8_t* out) {
  int error;
  struct memory page = {.bytes = 2 * MIB, .type = NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE};
  uint64_t top = allocate(file, page, &error);
  uint64_t low = allocate(file, page, &error);

  say("across pages", copy(file, low, 2 * MIB - 100, in, 200, true));
  say("read from the upper", copy(file, top, 0, out, 100, false));
  expect("bytes", digest(out, 100), digest(in + 100, 100));
  say("behind the pool", copy(file, low, 4 * MIB - 100, in, 101, true));
  say("free", free_handle(file, low));
  say("free", free_handle(file, top));
}

void smoke_memory(void) {
  uint8_t* in = malloc(BUFFER);
  uint8_t* out = malloc(BUFFER);
  int file = host->open(O_RDWR);

  worked_example(file);
  odd_requests(file);
  copies(file, in, out);
  contiguous(file, in, out);
  host->close(file);
  free(in);
  free(out);
}
