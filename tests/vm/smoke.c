/* SPDX-License-Identifier: MIT */
/*
 * smoke TARGET [PART]: one client's day on a device. Prints a line for every result, so that two
 * targets can be compared; fails where the specification names the result and it is another.
 */
#include "smoke.h"

#include <stdio.h>
#include <string.h>

static int failures;

void say(const char* name, int result) {
  printf("%s: %d\n", name, result);
}

void say_hex(const char* name, uint64_t value) {
  printf("%s: 0x%llx\n", name, (unsigned long long)value);
}

void expect(const char* name, uint64_t value, uint64_t expected) {
  say_hex(name, value);
  if (value == expected) return;
  printf("%s: expected 0x%llx\n", name, (unsigned long long)expected);
  failures++;
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {
      {"identity", smoke_identity}, {"memory", smoke_memory}, {"mappings", smoke_mappings},
      {"rings", smoke_rings},       {"faults", smoke_faults}, {"processes", smoke_processes},
      {"surface", smoke_surface},   {"every", smoke_every},
  };
  size_t index;

  if (count < 2) {
    fprintf(stderr, "usage: smoke TARGET [PART]\n");
    return 2;
  }
  host = host_of(words[1]);
  for (index = 0; index < sizeof parts / sizeof parts[0]; index++) {
    if (count > 2 && strcmp(words[2], parts[index].name)) continue;
    printf("== %s\n", parts[index].name);
    parts[index].run();
  }
  fflush(stdout);
  if (failures) fprintf(stderr, "smoke: %d results are wrong\n", failures);
  return failures != 0;
}
