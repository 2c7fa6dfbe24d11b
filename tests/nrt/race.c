/* SPDX-License-Identifier: MIT */
/* Threads that meet at the parse cache and the registry: many loads of one file at once, of
 * different files, of one that cannot be parsed, of two that carry one UUID; unloading one handle
 * from all threads, and unloading while others load. race FILE FILE... */
#include "crew.h"

enum { rounds = 6 };

static neff_t damaged, twin;
static unsigned unloaded;
static pthread_barrier_t together;
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
  pthread_barrier_wait(&together);
  status = nrt_get_model_tensor_info(shared, &info);
  CHECK(status == NRT_SUCCESS || status == NRT_INVALID_HANDLE);
  if (status == NRT_SUCCESS) CHECK_OK(nrt_free_model_tensor_info(info));
  own = load(&files[worker % file_count], NRT_SUCCESS);
  status = nrt_unload(shared);
  CHECK(status == NRT_SUCCESS || status == NRT_INVALID_HANDLE);
  if (status == NRT_SUCCESS) __atomic_add_fetch(&unloaded, 1, __ATOMIC_RELAXED);
  CHECK_OK(nrt_unload(own));
  pthread_barrier_wait(&together);
  CHECK(__atomic_load_n(&unloaded, __ATOMIC_RELAXED) == 1);
}

static void (*const scenes[])(unsigned, unsigned) = {same_file, different_files, failing_creators,
                                                     one_uuid, one_handle};

static void* work(void* argument) {
  const unsigned worker = (unsigned)(uintptr_t)argument;
  for (unsigned scene = 0; scene < sizeof scenes / sizeof *scenes; ++scene) {
    for (unsigned round = 0; round < rounds; ++round) {
      pthread_barrier_wait(&together);
      scenes[scene](worker, round);
    }
  }
  return NULL;
}

/* A copy with `length` bytes from `offset` on changed. */
static neff_t changed(const neff_t* file, size_t offset, size_t length) {
  unsigned char* bytes = malloc(file->size);
  if (!bytes) exit(2);
  memcpy(bytes, file->bytes, file->size);
  for (size_t i = 0; i < length; ++i) bytes[offset + i] ^= 0x5A;
  return (neff_t){bytes, file->size};
}

int main(int argc, char** argv) {
  uint32_t cores = 0;
  read_files(argv + 1, argc - 1);
  if (file_count == 0) return 2;
  damaged = changed(&files[file_count - 1], 1024, files[file_count - 1].size - 1024);
  twin = changed(&files[0], files[0].size - files[0].size / 3, 1);

  pthread_barrier_init(&together, NULL, threads);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  start(work);
  join();
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  check_cores_are_empty(cores);
  nrt_close();
  free_files();
  free(damaged.bytes);
  free(twin.bytes);
  return report("race");
}
