/* SPDX-License-Identifier: MIT */
/* bench TARGET: the cost of a call and the speed of copies, next to memcpy in the same machine. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define BYTES (64ull << 20)
#define TIMES 5
#define CALLS 20000
#define HUGE 0x200000ull

static double now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The best of several runs, in GB/s. */
static double speed(int (*run)(void)) {
  double best = 0;
  int round;

  for (round = 0; round < TIMES; round++) {
    double start = now();

    if (run()) return 0;
    start = (double)BYTES / (now() - start) / 1e9;
    if (start > best) best = start;
  }
  return best;
}

static uint8_t *from, *to;
static int file;
static uint64_t handle;

static int run_memcpy(void) {
  memcpy(to, from, BYTES);
  return 0;
}

static int run_in(void) {
  return copy(file, handle, 0, from, BYTES, true);
}

static int run_out(void) {
  return copy(file, handle, 0, to, BYTES, false);
}

static uint8_t* make_buffer(int advice, int value) {
  uint8_t* buffer = aligned_alloc(HUGE, BYTES);

  (void)madvise(buffer, BYTES, advice);
  memset(buffer, value, BYTES);
  return buffer;
}

static void show(const char* what, double value, double memcpy_speed) {
  printf("  %-22s %6.2f GB/s, %.2f of memcpy\n", what, value, value / memcpy_speed);
}

/* Copies of one kind of buffer. The loader's own have huge pages. */
static void copies(const char* pages, int advice) {
  double memcpy_speed, start;
  int error;

  from = make_buffer(advice, 1);
  to = make_buffer(advice, 2);
  handle = allocate(file, (struct memory){.bytes = BYTES}, &error);
  memcpy_speed = speed(run_memcpy);
  printf("%s pages: memcpy %.2f GB/s\n", pages, memcpy_speed);
  start = now();
  error = run_in();
  show("first write", (double)BYTES / (now() - start) / 1e9, memcpy_speed);
  if (error) printf("  FAILED: %d\n", error);
  show("write", speed(run_in), memcpy_speed);
  show("read", speed(run_out), memcpy_speed);
  (void)free_handle(file, handle);
  free(from);
  free(to);
}

static void empty(void) {}

/* Nanoseconds of one of many calls. */
#define COST(what)                                                 \
  do {                                                             \
    double start = now();                                          \
    int index;                                                     \
                                                                   \
    for (index = 0; index < CALLS; index++) what;                  \
    printf("%s: %.0f ns\n", #what, (now() - start) / CALLS * 1e9); \
  } while (0)

static void calls(void) {
  void (*volatile empty_function)(void) = empty;
  struct neuron_compatible_version range;
  uint64_t word = 0, pa;
  struct neuron_mem_get_pa get_pa = {0, (uintptr_t)&pa};
  int error;

  handle = allocate(file, (struct memory){.bytes = 4096}, &error);
  get_pa.mem_handle = handle;
  COST(empty_function());
  COST(syscall(SYS_getppid));
  COST(call(file, NEURON_IOCTL_COMPATIBLE_VERSION, &range));
  COST(call(file, NEURON_IOCTL_MEM_GET_PA, &get_pa));
  COST(copy(file, handle, 0, &word, sizeof word, true));
}

int main(int count, char** words) {
  if (count != 2) {
    fprintf(stderr, "usage: bench TARGET\n");
    return 2;
  }
  host = host_of(words[1]);
  file = host->open(O_RDWR);
  copies("huge", MADV_HUGEPAGE);
  copies("small", MADV_NOHUGEPAGE);
  calls();
  host->close(file);
  return 0;
}
