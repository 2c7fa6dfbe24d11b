/* SPDX-License-Identifier: MIT */
/* Bad user pointers: null, unmapped, read only, and structs that end where memory ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "commands.h"
#include "smoke.h"

#define PAGE 4096u

/* Two pages: the first can be used, the second not. */
static uint8_t* good_page;

static void make_pages(void) {
  good_page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  mprotect(good_page + PAGE, PAGE, PROT_NONE);
}

/* A handle that could not be stored must leave no allocation behind (11 B.2 item 3). */
static void handle_pointer(int file) {
  uint64_t bad[] = {0, (uintptr_t)(good_page + PAGE), (uintptr_t)(good_page + PAGE - 4), ~0ull};
  struct neuron_mem_alloc_v2mt64 argument = {.size = 4096};
  uint64_t before, after;
  size_t index;
  int error;

  before = allocate(file, (struct memory){.bytes = 4096}, &error);
  (void)free_handle(file, before);
  for (index = 0; index < sizeof bad / sizeof bad[0]; index++) {
    argument.mem_handle_ptr = bad[index];
    say("handle to a bad address", call(file, NEURON_IOCTL_MEM_ALLOC_V2MT64, &argument));
  }
  after = allocate(file, (struct memory){.bytes = 4096}, &error);
  expect("next handle", after, before);
  (void)free_handle(file, after);
}

static void copy_buffers(int file) {
  int error;
  uint64_t handle = allocate(file, (struct memory){.bytes = 0x40000}, &error);
  struct neuron_mem_buf_copy64 zero_copy = {handle, 0, 4096, 0, 1};
  static uint8_t read_back[PAGE];

  memset(good_page, 0x11, PAGE);
  say("fill", fill(file, handle, 0, 2 * PAGE, 0x22));
  expect("second page unmapped", (uint64_t)copy(file, handle, 0, good_page, 2 * PAGE, true), PAGE);
  say("last 5 bytes mapped", copy(file, handle, 0, good_page + PAGE - 5, 100, true));
  say("the same outwards", copy(file, handle, 0, good_page + PAGE - 5, 100, false));
  say("null", copy(file, handle, 0, NULL, 100, true));
  say("kernel address", copy(file, handle, 0, (void*)0xFFFF888000001000ull, 100, true));
  say("end of addresses", copy(file, handle, 0, (void*)(~0ull - 7), 100, false));
  say("fresh memory, bad buffer", copy(file, handle, 0x30000, NULL, 0x10000, true));
  say("zero-copy of null", call(file, NEURON_IOCTL_MEM_BUF_ZEROCOPY64, &zero_copy));
  /* What follows the last good byte must be as it was. */
  say("read", copy(file, handle, PAGE, read_back, PAGE, false));
  expect("not overwritten", read_back[0], 0x22);
  say("read", copy(file, handle, 0, read_back, PAGE, false));
  say_hex("bytes", digest(read_back, PAGE));
  say("free", free_handle(file, handle));
}

static void read_only_memory(int file) {
  uint64_t handle;
  int error;

  handle = allocate(file, (struct memory){.bytes = 4096}, &error);
  mprotect(good_page, PAGE, PROT_READ);
  say("read-only struct, nothing to write", fill(file, handle, 0, 16, 1));
  say("copy to read-only memory", copy(file, handle, 0, good_page, 16, false));
  mprotect(good_page, PAGE, PROT_READ | PROT_WRITE);
  say("free", free_handle(file, handle));
}

/* Every command with a struct of zeros of which only the first bytes are there. */
static void argument_structs(int file) {
  static const uint32_t present[] = {0, 1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 260, 276};
  size_t index, row;

  for (index = 0; index < command_count; index++) {
    printf("0x%08x null %d unmapped %d,", commands[index].value,
           call(file, commands[index].value, NULL),
           call(file, commands[index].value, good_page + PAGE + 64));
    for (row = 0; row < sizeof present / sizeof present[0]; row++) {
      memset(good_page, 0, PAGE);
      printf(" %d", call(file, commands[index].value, good_page + PAGE - present[row]));
    }
    memset(good_page, 0, PAGE);
    mprotect(good_page, PAGE, PROT_READ);
    printf(", read only %d\n", call(file, commands[index].value, good_page));
    mprotect(good_page, PAGE, PROT_READ | PROT_WRITE);
  }
}

void smoke_faults(void) {
  int file = host->open(O_RDWR);

  make_pages();
  handle_pointer(file);
  copy_buffers(file);
  read_only_memory(file);
  argument_structs(file);
  host->close(file);
  munmap(good_page, 2 * PAGE);
}
