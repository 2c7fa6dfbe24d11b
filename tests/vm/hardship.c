/* SPDX-License-Identifier: MIT */
/*
 * hardship TEST TARGET: what only real processes can suffer.
 *   kill    processes die in the middle of copies, fills and allocations
 *   race    memory is freed while another thread copies it
 *   rings   a process is killed whose descriptors ring their own doorbell for minutes
 *   cycles  a thousand times open, allocate, write, close
 *   limit   more memory is wanted than the module's mem_limit
 *   every-kill, every-race  the first two for each command of the interface
 *   hold    keeps the node open until the input ends
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "hardship.h"

#define MIB 0x100000ull
#define BYTES (8 * MIB)

static uint8_t* buffer;

int check(const char* what, long long value, long long expected) {
  if (value == expected) return 0;
  printf("%s: %lld, expected %lld\n", what, value, expected);
  return 1;
}

long long used(void) {
  FILE* file = fopen("/sys/module/neuron_sim/parameters/mem_used", "r");
  long long value = -1;

  if (file && fscanf(file, "%lld", &value) != 1) value = -1;
  if (file) fclose(file);
  return value;
}

static long long in_use_at_first;

int check_clean(long long used_before) {
  int file = host->open(O_RDWR);
  int error, wrong;
  uint64_t handle = allocate(file, (struct memory){.bytes = MIB}, &error);

  wrong = check("open", file >= 0, 1);
  wrong += check("a handle", handle != 0, 1);
  wrong += check("first address", (long long)address_of(file, handle), 0x1000000);
  host->close(file);
  wrong += check("live bytes", memory_in_use(), in_use_at_first);
  wrong += check("memory held", used(), used_before);
  return wrong;
}

/* The table of handles only grows; after one handle it has all the size these tests need. */
static void warm_up(void) {
  int file = host->open(O_RDWR);
  int error;

  in_use_at_first = memory_in_use();
  (void)allocate(file, (struct memory){.bytes = 4096}, &error);
  host->close(file);
}

static void work_forever(unsigned int seed) {
  int file = host->open(O_RDWR);
  int error;

  for (;;) {
    uint64_t device = allocate(file, (struct memory){.bytes = BYTES}, &error);
    uint64_t there = allocate(file, (struct memory){.bytes = BYTES, .host = true}, &error);
    struct neuron_mem_copy64 move = {device, there, BYTES, 0, 0};

    (void)copy(file, device, 0, buffer, BYTES, true);
    (void)fill(file, there, 0, BYTES, rand_r(&seed) & 1);
    (void)call(file, NEURON_IOCTL_MEM_COPY64, &move);
    (void)copy(file, there, 0, buffer, BYTES, false);
    (void)fill(file, device, 0, BYTES, 0);
    if (rand_r(&seed) & 1) (void)free_handle(file, device);
    (void)free_handle(file, there);
  }
}

static int test_kill(void) {
  long long before = used();
  unsigned int seed = 1;
  int round;

  for (round = 0; round < 30; round++) {
    struct timespec wait = {0, (long)(1 + rand_r(&seed) % 120) * 1000000};
    pid_t child = fork();

    if (!child) work_forever((unsigned int)round);
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  return check_clean(before);
}

static int race_file;
static volatile int race_over;
static volatile uint64_t race_handle;

static void* keep_copying(void* context) {
  int error = 0;

  (void)context;
  while (!race_over) {
    int result = copy(race_file, race_handle, 0, buffer, MIB, true);

    /* The handle is known or it is not; nothing else may happen. */
    if (result && result != -EINVAL) error = result;
  }
  return (void*)(intptr_t)error;
}

static int test_race(void) {
  long long before = used();
  pthread_t thread;
  void* result;
  int round, error;

  race_file = host->open(O_RDWR);
  pthread_create(&thread, NULL, keep_copying, NULL);
  for (round = 0; round < 300; round++) {
    struct timespec wait = {0, 100000};

    race_handle = allocate(race_file, (struct memory){.bytes = MIB}, &error);
    nanosleep(&wait, NULL);
    if (round % 3 == 0) (void)fill(race_file, race_handle, 0, MIB, 0);
    (void)free_handle(race_file, race_handle);
  }
  race_over = 1;
  pthread_join(thread, &result);
  host->close(race_file);
  return check("copy while freed", (intptr_t)result, 0) + check_clean(before);
}

/* Two descriptors that add two to their queue's tails, so that it never runs dry. */
static void ring_forever(void) {
  int file = host->open(O_RDWR);
  int error;
  uint64_t tx_ring = allocate(file, (struct memory){.bytes = 64 * 16}, &error);
  uint64_t rx_ring = allocate(file, (struct memory){.bytes = 64 * 16}, &error);
  uint64_t data = allocate(file, (struct memory){.bytes = 4096}, &error);
  uint64_t engine = neuron_v3_dma_engine(1);
  struct neuron_udma_tx_desc tx[64], rx[64];
  struct neuron_dma_queue_init init = {1, 1, 64, 64, tx_ring, rx_ring, 0, 0};
  struct neuron_dma_queue_copy_start start = {1, 1, 2, 2};
  uint32_t two = 2;
  int index;

  for (index = 0; index < 64; index++) {
    tx[index] = (struct neuron_udma_tx_desc){4, NEURON_UDMA_META_COPY, address_of(file, data)};
    rx[index] = (struct neuron_udma_tx_desc){
        4, 0,
        engine + (index & 1 ? neuron_udma_rx_register(1, NEURON_UDMA_Q_TAIL_INC)
                            : neuron_udma_tx_register(1, NEURON_UDMA_Q_TAIL_INC))};
  }
  (void)call(file, NEURON_IOCTL_DMA_QUEUE_INIT, &init);
  (void)copy(file, data, 0, &two, sizeof two, true);
  (void)copy(file, tx_ring, 0, tx, sizeof tx, true);
  (void)copy(file, rx_ring, 0, rx, sizeof rx, true);
  (void)call(file, NEURON_IOCTL_DMA_QUEUE_COPY_START, &start);
}

/* Waits for a lock that the ringing process holds. */
static void ask_engine(void) {
  int file = host->open(O_RDWR);
  struct neuron_dma_eng_state state;
  struct neuron_dma_eng_get_state get = {1, (uintptr_t)&state};

  _exit(call(file, NEURON_IOCTL_DMA_ENG_GET_STATE, &get) || state.tx_state != 3);
}

static int test_rings(void) {
  int status = 0;
  pid_t ringing = fork();
  pid_t asking;

  if (!ringing) {
    ring_forever();
    _exit(0);
  }
  sleep(1);
  asking = fork();
  if (!asking) ask_engine();
  sleep(1);
  alarm(20); /* ends this test if one of the two cannot be ended */
  status = check("still ringing", waitpid(ringing, NULL, WNOHANG), 0);
  status += check("still asking", waitpid(asking, NULL, WNOHANG), 0);
  if (status) return status;
  kill(ringing, SIGKILL);
  waitpid(ringing, NULL, 0);
  waitpid(asking, &status, 0);
  /* The registers remember what was written to them. */
  return check("engine aborted", status, 0) + check_clean(used());
}

static int test_cycles(void) {
  long long before = used();
  int round, error;

  for (round = 0; round < 1000; round++) {
    int file = host->open(O_RDWR);
    uint64_t handle = allocate(file, (struct memory){.bytes = 256 << 10}, &error);

    if (!handle || copy(file, handle, 0, buffer, 256 << 10, true)) return 1;
    host->close(file);
  }
  return check_clean(before);
}

static sigjmp_buf after_signal;

static void catch (int number) {
  siglongjmp(after_signal, number);
}

static int test_limit(void) {
  long long before = used();
  int file = host->open(O_RDWR);
  int error, wrong = 0;
  uint64_t handle = allocate(file, (struct memory){.bytes = 64 * MIB}, &error);
  uint64_t pa = address_of(file, handle);
  struct mapping mapping = host->map(file, pa, 64 * MIB);

  wrong += check("fill beyond the limit", fill(file, handle, 0, 64 * MIB, 1), -ENOMEM);
  wrong += check("held at most the limit", used() <= (long long)(16 * MIB), 1);
  wrong += check("fill with zero", fill(file, handle, 0, 64 * MIB, 0), 0);
  wrong += check("half of the limit", copy(file, handle, 16 * MIB, buffer, 8 * MIB, true), 0);
  wrong += check("nearly the limit", copy(file, handle, 32 * MIB, buffer, 7 * MIB, true), 0);
  wrong += check("beyond it", copy(file, handle, 48 * MIB, buffer, 8 * MIB, true), -ENOMEM);
  signal(SIGBUS, catch);
  if (!sigsetjmp(after_signal, 1)) {
    *(volatile uint8_t*)(mapping.at + 60 * MIB) = 1;
    wrong += check("store beyond the limit", 0, SIGBUS);
  }
  host->unmap(&mapping);
  host->close(file);
  return wrong + check_clean(before);
}

static int test_hold(void) {
  int file = host->open(O_RDWR);

  printf("open\n");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return file < 0;
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    int (*run)(void);
  } tests[] = {{"kill", test_kill},
               {"race", test_race},
               {"rings", test_rings},
               {"cycles", test_cycles},
               {"limit", test_limit},
               {"every-kill", test_every_kill},
               {"every-race", test_every_race},
               {"hold", test_hold}};
  size_t index;

  buffer = malloc(BYTES);
  memset(buffer, 0x5A, BYTES);
  for (index = 0; count == 3 && index < sizeof tests / sizeof tests[0]; index++) {
    if (strcmp(words[1], tests[index].name)) continue;
    host = host_of(words[2]);
    warm_up();
    return tests[index].run() != 0;
  }
  fprintf(stderr, "usage: hardship TEST TARGET\n");
  return 2;
}
