/* SPDX-License-Identifier: MIT */
/* Every command: its process is killed in the middle, its memory is freed by another thread. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "commands.h"
#include "hardship.h"

#define RING_BYTES 0x1000u
#define RACE_ROUNDS 40
#define KILL_ROUNDS 2
#define MOST_CALLS 4000 /* of one command in a race */

static uint8_t user[SUBJECT_BYTES];

static struct subject make_subject(int file) {
  int error;
  struct subject subject = {
      .handle = allocate(file, (struct memory){.bytes = SUBJECT_BYTES}, &error),
      .ring = allocate(file, (struct memory){.bytes = RING_BYTES}, &error),
      .user = (uintptr_t)user,
  };

  subject.pa = address_of(file, subject.handle);
  return subject;
}

static void free_subject(int file, const struct subject* subject) {
  (void)free_handle(file, subject->handle);
  (void)free_handle(file, subject->ring);
}

/* Rings of the device stay until their core is reset (06 4.8). */
static void reset_cores(int file) {
  struct neuron_nc_reset reset = {.nc_map = NEURON_NC_RESET_WHOLE_DEVICE};
  struct neuron_nc_reset_ready ready = {0};

  (void)call(file, NEURON_IOCTL_NC_RESET, &reset);
  ready.request_id = reset.request_id;
  (void)call(file, NEURON_IOCTL_NC_RESET_READY, &ready);
}

/* What a killed process leaves to others goes with its last file and a reset. */
static void tidy(void) {
  int file = host->open(O_RDWR);

  reset_cores(file);
  host->close(file);
}

/*
 * Registers and core memories keep what is written to them, and the pages for it: each command is
 * called once before the memory is counted. That also resets the device.
 */
static void touch_everything(void) {
  static uint8_t argument[LARGEST_ARGUMENT];
  size_t index;
  int error, file = host->open(O_RDWR);

  /* The table of handles only grows: to more than any command allocates. */
  for (index = 0; index < 2 * MOST_CALLS; index++)
    (void)allocate(file, (struct memory){.bytes = RING_BYTES}, &error);
  host->close(file);
  for (index = 0; index < command_count; index++) {
    struct subject subject;

    file = host->open(O_RDWR);
    subject = make_subject(file);

    argument_of(&commands[index], &subject, argument);
    (void)call(file, commands[index].value, argument);
    reset_cores(file);
    host->close(file);
  }
}

/* Core marks are dropped with a write-only file of their process. */
static void call_forever(const struct command* command) {
  static uint8_t argument[LARGEST_ARGUMENT];
  int marks = host->open(O_WRONLY);
  int file = host->open(O_RDWR);

  (void)marks;
  for (;;) {
    struct subject subject = make_subject(file);
    int times;

    for (times = 0; times < 8; times++) {
      argument_of(command, &subject, argument);
      (void)call(file, command->value, argument);
    }
    free_subject(file, &subject);
  }
}

int test_every_kill(void) {
  long long before;
  unsigned int seed = 1;
  size_t index;
  int round;

  touch_everything();
  before = used();
  for (index = 0; index < command_count; index++) {
    for (round = 0; round < KILL_ROUNDS; round++) {
      struct timespec wait = {0, (long)(2 + rand_r(&seed) % 20) * 1000000};
      pid_t child = fork();

      if (!child) call_forever(&commands[index]);
      nanosleep(&wait, NULL);
      kill(child, SIGKILL);
      waitpid(child, NULL, 0);
    }
    tidy();
    if (!check_clean(before)) continue;
    printf("after kills in 0x%08x\n", commands[index].value);
    return 1;
  }
  return 0;
}

/* The thread that calls reads these; the other one frees what they name. */
static struct {
  int file;
  const struct command* command;
  _Atomic uint64_t handle, ring, pa;
  atomic_bool over;
  unsigned long calls;
} race;

static void* keep_calling(void* context) {
  static uint8_t argument[LARGEST_ARGUMENT];
  int calls;

  (void)context;
  for (calls = 0; calls < MOST_CALLS && !race.over; calls++) {
    struct subject subject = {race.handle, race.ring, race.pa, (uintptr_t)user};

    argument_of(race.command, &subject, argument);
    (void)call(race.file, race.command->value, argument);
  }
  race.calls += (unsigned long)calls;
  return NULL;
}

static void race_one(const struct command* command) {
  pthread_t thread;
  int round;

  race.file = host->open(O_RDWR);
  race.command = command;
  race.over = false;
  race.handle = race.ring = 1;
  pthread_create(&thread, NULL, keep_calling, NULL);
  for (round = 0; round < RACE_ROUNDS; round++) {
    struct subject subject = make_subject(race.file);
    struct timespec wait = {0, 20000};

    race.handle = subject.handle;
    race.ring = subject.ring;
    race.pa = subject.pa;
    nanosleep(&wait, NULL);
    free_subject(race.file, &subject);
  }
  race.over = true;
  pthread_join(thread, NULL);
  reset_cores(race.file);
  host->close(race.file);
}

int test_every_race(void) {
  long long before;
  size_t index;

  touch_everything();
  before = used();
  for (index = 0; index < command_count; index++) {
    race_one(&commands[index]);
    if (!check_clean(before)) continue;
    printf("after a race with 0x%08x\n", commands[index].value);
    return 1;
  }
  return check("calls were made", race.calls > command_count, 1);
}
