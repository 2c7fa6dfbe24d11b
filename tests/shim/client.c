/* SPDX-License-Identifier: MIT */
/*
 * A program that uses Neuron devices through the C library as other people's programs do, and
 * checks that each call answers as on a real node. Compiled in several ways (meson.build): with and
 * without _FORTIFY_SOURCE and _FILE_OFFSET_BITS the same source calls different functions.
 *
 *   client PART...               on a machine of two devices
 *   client work DEVICE ROUNDS    one of many clients; ROUNDS 0: until a call fails
 *   client execl|execle|execlp PROGRAM WORD    becomes the program
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "client.h"

int failures;
volatile int read_write = O_RDWR;
volatile int read_only = O_RDONLY;
volatile int write_only = O_WRONLY;
volatile size_t one = 1;

static int become(const char* call, const char* program, const char* word) {
  char* environment[] = {(char*)"OWN=environment", NULL};

  if (!strcmp(call, "execl")) return execl(program, program, word, NULL);
  if (!strcmp(call, "execle")) return execle(program, program, word, NULL, environment);
  return execlp(program, program, word, NULL);
}

static int run_part(const char* part, const char* self) {
  static const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"open", test_open},       {"descriptor", test_descriptor},
               {"copies", test_copies},   {"stat", test_stat},
               {"folders", test_folders}, {"sysfs", test_sysfs},
               {"memory", test_memory},   {"fork", test_fork},
               {"passing", test_passing}, {"crowd", test_crowd},
               {"share", test_share},     {"threads", test_threads},
               {"killed", test_killed}};
  size_t i;

  if (!strcmp(part, "exec")) {
    test_exec(self);
    return 1;
  }
  for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(part, parts[i].name) != 0) continue;
    parts[i].run();
    return 1;
  }
  return 0;
}

int main(int count, char** words) {
  int i;

  if (count == 3 && !strcmp(words[1], "inherited")) return test_inherited(words[2]);
  if (count == 4 && !strcmp(words[1], "work")) return work_until_told(words[2], atoi(words[3]));
  if (count == 4 && !strncmp(words[1], "execl", 5)) return become(words[1], words[2], words[3]);
  for (i = 1; i < count; i++) {
    int before = failures;

    if (!run_part(words[i], words[0])) {
      fprintf(stderr, "no part is called %s\n", words[i]);
      return 2;
    }
    printf("%s %s\n", failures == before ? "ok" : "FAIL", words[i]);
  }
  return failures != 0;
}
