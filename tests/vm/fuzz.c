/* SPDX-License-Identifier: MIT */
/*
 * fuzz TARGET SECONDS SEED: random commands with arguments that are sometimes sensible. Two threads
 * share the files, so calls meet. Prints how many calls were made.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "client.h"
#include "commands.h"

#define FILES 4
#define BUFFER 0x40000u

static int files[FILES];
static uint8_t* buffer; /* followed by a page that cannot be used */
static time_t end;
static uint64_t seed;
static unsigned long calls[2];
static unsigned long accepted[2];

static uint64_t next(uint64_t* state) {
  uint64_t value;

  *state += 0x9E3779B97F4A7C15ull;
  value = (*state ^ (*state >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

/* Numbers that mean something here and there. */
static uint64_t word(uint64_t* state) {
  uint64_t value = next(state);

  switch (value >> 60) {
    case 0:
    case 1:
    case 2:
    case 3:
      return value & 7; /* handles, cores, states */
    case 4:
      return value & 0x3F;
    case 5:
    case 6:
    case 7:
      return (uintptr_t)buffer + (value % BUFFER & ~7ull);
    case 8:
      return (uintptr_t)buffer + BUFFER - (value & 0x7F);
    case 9:
      return (value & 0xFFFF) << 12; /* sizes and addresses */
    case 10:
      return NEURON_V3_HOST_BASE | 0x10000000ull | (value & 0xFFFF000);
    case 11:
      return neuron_v3_tpb_base(value & 7) + NEURON_V3_TPB_EVENTS + (value >> 8 & 0x1FFC);
    case 12:
      return neuron_v3_dma_engine(value & 127) + 0x1038;
    case 13:
      return 1ull << (value & 63);
    case 14:
      return 0 - (value & 0xFFFF);
    default:
      return value;
  }
}

static void prepare(uint64_t* state, uint8_t* argument, size_t bytes) {
  size_t at;

  for (at = 0; at + 8 <= bytes; at += 8) {
    uint64_t value = word(state);

    /* Two small numbers in one word as often as one large. */
    if (next(state) & 1) value = (value & 0xFFFFFFFF) | (word(state) & 0x3F) << 32;
    memcpy(argument + at, &value, sizeof value);
  }
}

static uint32_t choose(uint64_t* state) {
  uint64_t value = next(state);

  if (value % 16 == 0) return (uint32_t)(value >> 16 & 0xFFFF0000u) | 0x4E00 | (value >> 8 & 0xFF);
  return commands[(value >> 8) % command_count].value;
}

/* A store through a mapping raises SIGBUS when the device has no memory left. */
static _Thread_local sigjmp_buf after_store;

static void catch (int number) {
  siglongjmp(after_store, number);
}

static void try_mapping(uint64_t* state, int file) {
  struct mapping mapping = host->map(file, word(state) & ~4095ull, (1 + next(state) % 64) << 12);

  if (!mapping.at) return;
  if (mapping.writable && !sigsetjmp(after_store, 1)) mapping.at[next(state) % mapping.bytes] ^= 1;
  host->unmap(&mapping);
}

/* Memory and a queue, so that handles 1 to 3 are something. */
static void furnish(int file) {
  int error;
  uint64_t ring = allocate(file, (struct memory){.bytes = 4096}, &error);
  struct neuron_dma_queue_init init = {1, 1, 64, 64, ring, ring, 0, 0};

  (void)call(file, NEURON_IOCTL_DMA_QUEUE_INIT, &init);
  (void)allocate(file, (struct memory){.bytes = 0x20000}, &error);
  (void)allocate(file, (struct memory){.bytes = 0x20000, .host = true}, &error);
}

static void* run(void* context) {
  size_t self = (size_t)context;
  uint64_t state = seed * 2 + self;
  uint8_t* argument = buffer + self * 0x8000;

  while (time(NULL) < end) {
    int turn;

    for (turn = 0; turn < 200; turn++) {
      int file = files[next(&state) % FILES];
      uint64_t kind = next(&state) % 64;

      prepare(&state, argument, kind == 1 ? 12296 : 128);
      if (kind == 0)
        try_mapping(&state, file);
      else if (kind == 2)
        furnish(file);
      else
        accepted[self] +=
            host->call(file, choose(&state), kind == 3 ? word(&state) : (uintptr_t)argument) == 0;
      calls[self]++;
    }
  }
  return NULL;
}

int main(int count, char** words) {
  pthread_t thread[2];
  size_t index;
  char* area;

  if (count != 4) {
    fprintf(stderr, "usage: fuzz TARGET SECONDS SEED\n");
    return 2;
  }
  host = host_of(words[1]);
  signal(SIGBUS, catch);
  area = mmap(NULL, BUFFER + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(area + BUFFER, 4096, PROT_NONE);
  buffer = (uint8_t*)area;
  for (index = 0; index < FILES; index++) files[index] = host->open(index ? O_RDWR : O_WRONLY);
  end = time(NULL) + atoi(words[2]);
  seed = strtoull(words[3], NULL, 0);
  for (index = 0; index < 2; index++) pthread_create(&thread[index], NULL, run, (void*)index);
  for (index = 0; index < 2; index++) pthread_join(thread[index], NULL);
  for (index = 0; index < FILES; index++) host->close(files[index]);
  printf("fuzz: %lu calls, %lu accepted, seed %s\n", calls[0] + calls[1], accepted[0] + accepted[1],
         words[3]);
  return 0;
}
