/* SPDX-License-Identifier: MIT */
/* 16 threads load and unload, each so many times: first all the same file, then different ones.
 * After each part the cores hold no byte and the process does not grow. crowd COUNT FILE FILE... */
#include <unistd.h>

#include "crew.h"

#ifdef __SANITIZE_THREAD__
enum { most_growth = 64 << 20 }; /* what the sanitizer remembers of memory and locks grows, too */
#else
enum { most_growth = 8 << 20 };
#endif

static unsigned cores, count;

static void load_and_unload(unsigned file, unsigned worker) {
  nrt_model_t* model = NULL;
  CHECK_OK(nrt_load(files[file].bytes, files[file].size, (int32_t)(worker % cores), -1, &model));
  CHECK(model != NULL);
  CHECK_OK(nrt_unload(model));
}

static void* same_file(void* worker) {
  for (unsigned i = 0; i < count; ++i) load_and_unload(0, (unsigned)(uintptr_t)worker);
  return NULL;
}

static void* different_files(void* worker) {
  for (unsigned i = 0; i < count; ++i) {
    load_and_unload(((unsigned)(uintptr_t)worker + i) % file_count, (unsigned)(uintptr_t)worker);
  }
  return NULL;
}

static void run(void* (*body)(void*)) {
  start(body);
  join();
  check_cores_are_empty(cores);
}

int main(int argc, char** argv) {
  size_t before;
  if (argc < 3) return 2;
  count = (unsigned)atoi(argv[1]);
  read_files(argv + 2, argc - 2);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  run(same_file);
  run(different_files);
  before = resident_bytes();
  run(same_file);
  run(different_files);
  printf("resident after two parts: %zu KiB, after four: %zu KiB\n", before >> 10,
         resident_bytes() >> 10);
  CHECK(resident_bytes() < before + most_growth);
  nrt_close();
  free_files();
  return report("crowd");
}
