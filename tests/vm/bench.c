/* SPDX-License-Identifier: MIT */
/* bench TARGET: the cost of a call and the speed of copies, next to memcpy in the same machine. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define BYTES (64ull << 20)
#define TIMES 5
#define CALLS 20000

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

int main(int count, char** words) {
  struct neuron_compatible_version range;
  double start, memcpy_speed, first;
  int index, error;

  if (count != 2) {
    fprintf(stderr, "usage: bench TARGET\n");
    return 2;
  }
  host = host_of(words[1]);
  file = host->open(O_RDWR);
  from = malloc(BYTES);
  to = malloc(BYTES);
  memset(from, 1, BYTES);
  memset(to, 2, BYTES);
  handle = allocate(file, (struct memory){.bytes = BYTES}, &error);
  memcpy_speed = speed(run_memcpy);
  start = now();
  error = run_in();
  first = (double)BYTES / (now() - start) / 1e9;
  printf("memcpy %.2f GB/s\n", memcpy_speed);
  printf("first write %.2f GB/s (%.2f of memcpy), result %d\n", first, first / memcpy_speed, error);
  start = speed(run_in);
  printf("write %.2f GB/s (%.2f of memcpy)\n", start, start / memcpy_speed);
  start = speed(run_out);
  printf("read %.2f GB/s (%.2f of memcpy)\n", start, start / memcpy_speed);
  start = now();
  for (index = 0; index < CALLS; index++) (void)syscall(SYS_getppid);
  printf("getppid %.0f ns\n", (now() - start) / CALLS * 1e9);
  start = now();
  for (index = 0; index < CALLS; index++) (void)call(file, NEURON_IOCTL_COMPATIBLE_VERSION, &range);
  printf("COMPATIBLE_VERSION %.0f ns\n", (now() - start) / CALLS * 1e9);
  host->close(file);
  return 0;
}
