/* SPDX-License-Identifier: MIT */
/* Threads that meet at the parse cache and the registry: many loads of one file at once, of
 * different files, of one that cannot be parsed, of two that carry one UUID; unloading one handle
 * from all threads, and unloading while others load. race FILE FILE... */
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"

enum { threads = 8, rounds = 12, most_files = 8 };

typedef struct {
  unsigned char* bytes;
  size_t size;
} neff_t;

static neff_t files[most_files], damaged, twin;
static unsigned file_count, unloaded;
static pthread_barrier_t start;
static nrt_model_t* shared;

static nrt_model_t* load(const neff_t* file, NRT_STATUS expected) {
  nrt_model_t* model = NULL;
  CHECK_STATUS(nrt_load(file->bytes, file->size, -1, -1, &model), expected);
  CHECK((model != NULL) == (expected == NRT_SUCCESS));
  return model;
}

static void check_model(nrt_model_t* model) {
  nrt_tensor_info_array_t* info = NULL;
  CHECK_OK(nrt_get_model_tensor_info(model, &info));
  CHECK(info && info->tensor_count > 0);
  CHECK_OK(nrt_free_model_tensor_info(info));
}

/* All threads begin each round at the same time. */
static void same_file(unsigned worker, unsigned round) {
  nrt_model_t* model = load(&files[round % file_count], NRT_SUCCESS);
  (void)worker;
  check_model(model);
  CHECK_OK(nrt_unload(model));
}

static void different_files(unsigned worker, unsigned round) {
  const neff_t* file = &files[(worker + round) % file_count];
  nrt_model_t* model = load(file, NRT_SUCCESS);
  check_model(model);
  CHECK_OK(nrt_unload(model));
}

static void failing_creators(unsigned worker, unsigned round) {
  (void)worker;
  (void)round;
  load(&damaged, NRT_INVALID);
}

/* The damaged file has the UUID of the good one; nobody may get the other's parse. */
static void one_uuid(unsigned worker, unsigned round) {
  if ((worker + round) % 2) {
    load(&twin, NRT_INVALID);
  } else {
    CHECK_OK(nrt_unload(load(&files[0], NRT_SUCCESS)));
  }
}

/* Of all threads one unloads the handle, the others hear that it is none; meanwhile they load. */
static void one_handle(unsigned worker, unsigned round) {
  nrt_model_t* own;
  nrt_tensor_info_array_t* info = NULL;
  NRT_STATUS status;
  if (worker == 0) {
    shared = load(&files[round % file_count], NRT_SUCCESS);
    unloaded = 0;
  }
  pthread_barrier_wait(&start);
  status = nrt_get_model_tensor_info(shared, &info);
  CHECK(status == NRT_SUCCESS || status == NRT_INVALID_HANDLE);
  if (status == NRT_SUCCESS) CHECK_OK(nrt_free_model_tensor_info(info));
  own = load(&files[worker % file_count], NRT_SUCCESS);
  status = nrt_unload(shared);
  CHECK(status == NRT_SUCCESS || status == NRT_INVALID_HANDLE);
  if (status == NRT_SUCCESS) __atomic_add_fetch(&unloaded, 1, __ATOMIC_RELAXED);
  CHECK_OK(nrt_unload(own));
  pthread_barrier_wait(&start);
  CHECK(__atomic_load_n(&unloaded, __ATOMIC_RELAXED) == 1);
}

static void (*const scenes[])(unsigned, unsigned) = {same_file, different_files, failing_creators,
                                                     one_uuid, one_handle};

static void* work(void* argument) {
  const unsigned worker = (unsigned)(uintptr_t)argument;
  for (unsigned scene = 0; scene < sizeof scenes / sizeof *scenes; ++scene) {
    for (unsigned round = 0; round < rounds; ++round) {
      pthread_barrier_wait(&start);
      scenes[scene](worker, round);
    }
  }
  return NULL;
}

static neff_t copy_of(const neff_t* file) {
  neff_t copy = {malloc(file->size), file->size};
  if (!copy.bytes) exit(2);
  memcpy(copy.bytes, file->bytes, file->size);
  return copy;
}

int main(int argc, char** argv) {
  pthread_t all[threads];
  nrt_vnc_memory_stats_t stats;
  uint32_t cores = 0;
  size_t written = 0;
  for (int i = 1; i < argc && file_count < most_files; ++i, ++file_count) {
    files[file_count].bytes = read_whole_file(argv[i], &files[file_count].size);
  }
  if (file_count == 0) return 2;
  damaged = copy_of(&files[file_count - 1]);
  memset(damaged.bytes + 1024, 0x5A, damaged.size - 1024);
  twin = copy_of(&files[0]);
  twin.bytes[twin.size - twin.size / 3] ^= 0x10;

  pthread_barrier_init(&start, NULL, threads);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  for (uintptr_t i = 0; i < threads; ++i) {
    CHECK(pthread_create(&all[i], NULL, work, (void*)i) == 0);
  }
  for (unsigned i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  for (uint32_t core = 0; core < cores; ++core) {
    CHECK_OK(nrt_get_vnc_memory_stats(core, &stats, sizeof stats, &written));
    CHECK(stats.bytes_used == 0);
  }
  nrt_close();
  for (unsigned i = 0; i < file_count; ++i) free(files[i].bytes);
  free(damaged.bytes);
  free(twin.bytes);
  return report("race");
}
