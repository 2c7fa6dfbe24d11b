/* SPDX-License-Identifier: MIT */
/* What the C test programs share: a check that tells where it failed, and reading a file. */
#ifndef NEFFLD_TESTS_NRT_CHECK_H
#define NEFFLD_TESTS_NRT_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nrt/nrt.h"

static int failures;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);                     \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

#define CHECK_STATUS(call, expected)                                                 \
  do {                                                                               \
    const NRT_STATUS check_status = (call);                                          \
    if (check_status != (expected)) {                                                \
      __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);                            \
      fprintf(stderr, "%s:%d: %s: %s, expected %s\n", __FILE__, __LINE__, #call,     \
              nrt_get_status_as_str(check_status), nrt_get_status_as_str(expected)); \
    }                                                                                \
  } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, NRT_SUCCESS)

/* A whole file in malloc'ed memory; ends the program if it cannot be read. */
static inline void* read_whole_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes = NULL;
  long length = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  if (length > 0) bytes = malloc((size_t)length);
  if (!bytes || fseek(file, 0, SEEK_SET) != 0 ||
      fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  fclose(file);
  *size = (size_t)length;
  return bytes;
}

static inline int report(const char* name) {
  if (failures == 0) printf("%s: passed\n", name);
  return failures == 0 ? 0 : 1;
}

/* Memory of this process that is there. */
static inline size_t resident_bytes(void) {
  size_t pages = 0, total = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%zu %zu", &total, &pages) == 2);
  if (file) fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#endif
