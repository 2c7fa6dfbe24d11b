/* SPDX-License-Identifier: MIT */
/*
 * Every command with an argument that gets past the checks, and then with one thing wrong at a
 * time: the size, a pointer, a number near a limit, a handle of another process or of freed memory.
 * Each command has a process's life of its own, after which the counters must be where they were.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "commands.h"
#include "smoke.h"

#define PAGE 4096u
#define ARGUMENT_ROOM (4 * PAGE)

static uint8_t* argument_area; /* ARGUMENT_ROOM bytes and a page that cannot be used */
static uint8_t* user_area;     /* SUBJECT_BYTES bytes and such a page */

static uint8_t* make_area(size_t bytes) {
  uint8_t* area = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

  mprotect(area + bytes, PAGE, PROT_NONE);
  return area;
}

/* Words that are addresses of registers where a call wants such, and end with a NUL for text. */
static void write_user_area(void) {
  size_t at;

  for (at = 0; at < SUBJECT_BYTES; at += 8) {
    uint64_t word = 0x100000000ull + at % 64;

    memcpy(user_area + at, &word, sizeof word);
  }
}

static struct subject make_subject(int file) {
  int error;
  struct subject subject = {
      .handle = allocate(file, (struct memory){.bytes = SUBJECT_BYTES}, &error),
      .ring = allocate(file, (struct memory){.bytes = PAGE}, &error),
      .user = (uintptr_t)user_area,
  };

  subject.pa = address_of(file, subject.handle);
  write_user_area();
  return subject;
}

/* The argument ends where memory ends. */
static uint8_t* argument_at_end(const struct command* command, const struct subject* subject) {
  uint8_t* argument = argument_area + ARGUMENT_ROOM - command->bytes;

  argument_of(command, subject, argument);
  return argument;
}

static int call_with(int file, const struct command* command, const struct subject* subject) {
  return call(file, command->value, argument_at_end(command, subject));
}

/* The same number with other sizes and directions; runs of equal results are one. */
static void wrong_commands(int file, const struct command* command, const struct subject* subject) {
  uint32_t own = NEURON_IOCTL_SIZE_OF(command->value);
  uint32_t size, direction, count = 0;
  int before = 0;

  printf(" sizes");
  for (size = 0; size <= 300; size++) {
    uint32_t value = (command->value & 0xC000FFFFu) | size << 16;
    int result;

    if (size == own) continue;
    argument_of(command, subject, argument_area);
    result = call(file, value, argument_area);
    if (count && result != before) {
      printf(" %d*%u", before, count);
      count = 0;
    }
    before = result;
    count++;
  }
  printf(" %d*%u, directions", before, count);
  for (direction = 0; direction < 4; direction++) {
    uint32_t value = (command->value & 0x3FFFFFFFu) | direction << 30;

    argument_of(command, subject, argument_area);
    if (value != command->value) printf(" %d", call(file, value, argument_area));
  }
  printf("\n");
}

static void put(uint8_t* argument, const struct command* command, size_t field, uint64_t value) {
  memcpy(argument + command->field[field].at, &value, command->field[field].width);
}

static void wrong_pointers(int file, const struct command* command, const struct subject* subject,
                           size_t field) {
  const uint64_t bad[] = {0, (uintptr_t)user_area + SUBJECT_BYTES, 0xFFFF888000001000ull,
                          (uintptr_t)user_area + SUBJECT_BYTES - 4, 0 - 8ull};
  uint8_t* argument;
  size_t index;

  printf(" pointer@%u", command->field[field].at);
  for (index = 0; index < sizeof bad / sizeof bad[0]; index++) {
    argument = argument_at_end(command, subject);
    put(argument, command, field, bad[index]);
    printf(" %d", call(file, command->value, argument));
  }
  mprotect(user_area, SUBJECT_BYTES, PROT_READ);
  printf(" %d\n", call_with(file, command, subject));
  mprotect(user_area, SUBJECT_BYTES, PROT_READ | PROT_WRITE);
  write_user_area();
}

/* Only the front part of the struct is there. */
static void short_structs(int file, const struct command* command, const struct subject* subject) {
  static uint8_t whole[LARGEST_ARGUMENT];
  uint32_t missing;

  printf(" struct");
  argument_of(command, subject, whole);
  for (missing = 1; missing <= command->bytes; missing += missing < 32 ? 1 : missing) {
    uint8_t* argument = argument_area + ARGUMENT_ROOM - (command->bytes - missing);

    memcpy(argument, whole, command->bytes - missing);
    printf(" %d", call(file, command->value, argument));
  }
  printf("\n");
}

/* The whole struct, but not writable. */
static int read_only_struct(int file, const struct command* command,
                            const struct subject* subject) {
  uint8_t* argument = argument_at_end(command, subject);
  int result;

  mprotect(argument_area, ARGUMENT_ROOM, PROT_READ);
  result = call(file, command->value, argument);
  mprotect(argument_area, ARGUMENT_ROOM, PROT_READ | PROT_WRITE);
  printf(" struct read only %d\n", result);
  return result;
}

static void limits(int file, const struct command* command, const struct subject* subject,
                   size_t field) {
  static const uint64_t words[] = {0,          1,           0x7FFFFFFF, 0x80000000,
                                   0xFFFFFFF8, 0xFFFFFFFF,  1ull << 32, (1ull << 32) + 64,
                                   1ull << 63, 0 - 4096ull, 0 - 8ull,   ~0ull};
  size_t index, count = command->field[field].width == 8 ? 12 : 6;

  printf(" number@%u", command->field[field].at);
  for (index = 0; index < count; index++) {
    uint8_t* argument = argument_at_end(command, subject);

    put(argument, command, field, words[index]);
    printf(" %d", call(file, command->value, argument));
  }
  printf("\n");
}

static bool has(const struct command* command, uint8_t kind) {
  size_t field;

  for (field = 0; field < COMMAND_FIELDS && command->field[field].width; field++)
    if (command->field[field].kind == kind) return true;
  return false;
}

struct visit {
  const struct command* command;
  struct subject subject;
};

static void as_foreign(void* context) {
  const struct visit* visit = context;
  int file = host->open(O_RDWR);

  printf(" another process's %d\n", call_with(file, visit->command, &visit->subject));
  host->close(file);
}

static void wrong_handles(int file, const struct command* command, struct subject subject) {
  static const uint64_t odd[] = {0, 1ull << 32, ~0ull, 4194303, 4194304};
  struct visit visit = {command, subject};
  size_t index;

  host->as_other(as_foreign, &visit);
  /* MEM_FREE has freed it; a fresh one so that there is something to free. */
  subject = make_subject(file);
  (void)free_handle(file, subject.handle);
  (void)free_handle(file, subject.ring);
  printf(" freed %d, odd", call_with(file, command, &subject));
  for (index = 0; index < sizeof odd / sizeof odd[0]; index++) {
    subject.handle = odd[index];
    subject.ring = odd[index];
    printf(" %d", call_with(file, command, &subject));
  }
  printf("\n");
}

/* What the next allocation would get: it tells whether something was left behind. */
struct place {
  uint64_t handle, pa;
};

static struct place next_place(int file) {
  int error;
  struct place place;

  place.handle = allocate(file, (struct memory){.bytes = PAGE}, &error);
  place.pa = address_of(file, place.handle);
  (void)free_handle(file, place.handle);
  return place;
}

static void expect_place(int file, struct place expected) {
  struct place place = next_place(file);

  expect(" handle after faults", place.handle, expected.handle);
  expect(" address after faults", place.pa, expected.pa);
}

/* After a call that worked, calls that fault leave no memory and no handle behind. */
static void faults(int file, const struct command* command, const struct subject* subject) {
  struct place place = next_place(file);
  size_t field;

  short_structs(file, command, subject);
  for (field = 0; field < COMMAND_FIELDS && command->field[field].width; field++)
    if (command->field[field].kind == FIELD_POINTER) wrong_pointers(file, command, subject, field);
  expect_place(file, place);
  if (read_only_struct(file, command, subject)) expect_place(file, place);
}

static void one_command(int file, const struct command* command) {
  struct subject subject = make_subject(file);
  uint8_t* argument = argument_at_end(command, &subject);
  size_t field;

  printf("0x%08x %d\n", command->value, call(file, command->value, argument));
  if (command->value == NEURON_IOCTL_MEM_FREE) subject = make_subject(file);
  faults(file, command, &subject);
  wrong_commands(file, command, &subject);
  for (field = 0; field < COMMAND_FIELDS && command->field[field].width; field++)
    if (command->field[field].kind == FIELD_QUANTITY) limits(file, command, &subject, field);
  if (has(command, FIELD_HANDLE) || has(command, FIELD_RING)) {
    subject = make_subject(file);
    wrong_handles(file, command, subject);
  }
}

/* Notification rings are the device's and stay until their core is reset (06 4.8). */
static void reset_cores(int file) {
  struct neuron_nc_reset reset = {.nc_map = NEURON_NC_RESET_WHOLE_DEVICE};
  struct neuron_nc_reset_ready ready = {0};

  (void)call(file, NEURON_IOCTL_NC_RESET, &reset);
  ready.request_id = reset.request_id;
  (void)call(file, NEURON_IOCTL_NC_RESET_READY, &ready);
}

void smoke_every(void) {
  long long in_use;
  int file = host->open(O_RDWR);
  size_t index;

  /* What other parts left to the device must not hide anything. */
  reset_cores(file);
  host->close(file);
  in_use = memory_in_use();
  argument_area = make_area(ARGUMENT_ROOM);
  user_area = make_area(SUBJECT_BYTES);
  for (index = 0; index < command_count; index++) {
    file = host->open(O_RDWR);
    one_command(file, &commands[index]);
    reset_cores(file);
    host->close(file);
    expect(" memory in use", (uint64_t)(memory_in_use() - in_use), 0);
  }
  munmap(argument_area, ARGUMENT_ROOM + PAGE);
  munmap(user_area, SUBJECT_BYTES + PAGE);
}
