/* SPDX-License-Identifier: MIT */
/* Sixteen threads with one body, and the files they load. */
#ifndef NEFFLD_TESTS_NRT_CREW_H
#define NEFFLD_TESTS_NRT_CREW_H

#include <pthread.h>

#include "model.h"

enum { threads = 16, most_files = 16 };

static pthread_t crew[threads];

/* Threads get their numbers, from 0. */
static inline void start(void* (*body)(void*)) {
  for (uintptr_t i = 0; i < threads; ++i) {
    CHECK(pthread_create(&crew[i], NULL, body, (void*)i) == 0);
  }
}

static inline void join(void) {
  for (unsigned i = 0; i < threads; ++i) pthread_join(crew[i], NULL);
}

typedef struct {
  void* bytes;
  size_t size;
} neff_t;

static neff_t files[most_files];
static unsigned file_count;

/* Reads `count` files, or as many as there is room for. */
static inline void read_files(char** paths, int count) {
  for (int i = 0; i < count && file_count < most_files; ++i, ++file_count) {
    files[file_count].bytes = read_whole_file(paths[i], &files[file_count].size);
  }
}

static inline void free_files(void) {
  for (unsigned i = 0; i < file_count; ++i) free(files[i].bytes);
}

/* A thread's own file on its own core; 0 if it does not load. */
static inline int load_own(struct loaded* it, const void* argument, unsigned cores) {
  const unsigned worker = (unsigned)(uintptr_t)argument;
  return load_whole(it, files[worker % file_count].bytes, files[worker % file_count].size,
                    (int32_t)(worker % cores));
}

/* What is unloaded left nothing. */
static inline void check_cores_are_empty(unsigned cores) {
  for (unsigned core = 0; core < cores; ++core) {
    nrt_vnc_memory_stats_t stats;
    size_t written = 0;
    CHECK_OK(nrt_get_vnc_memory_stats(core, &stats, sizeof stats, &written));
    CHECK(stats.bytes_used == 0);
  }
}

#endif
