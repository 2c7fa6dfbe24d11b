/* SPDX-License-Identifier: MIT */
/* 16 threads load, look at and unload the same and different files on every core, while others use
 * tensors; then closing races with all of it. threads FILE FILE... */
#include <string.h>

#include "crew.h"

enum { rounds = 6 };

static unsigned cores;

static void one_round(unsigned worker, unsigned round) {
  const unsigned file = (worker / 4 + round) % file_count;
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_t* tensor = NULL;
  unsigned char bytes[256], back[256];
  CHECK_OK(nrt_load(files[file].bytes, files[file].size,
                    worker % 2 ? -1 : (int32_t)(worker % cores), -1, &model));
  CHECK_OK(nrt_get_model_tensor_info(model, &info));
  CHECK(info && info->tensor_count > 0);
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, (int)(worker % cores), sizeof bytes,
                               "t", &tensor));
  memset(bytes, (int)(worker * 16 + round), sizeof bytes);
  CHECK_OK(nrt_tensor_write(tensor, bytes, 0, sizeof bytes));
  CHECK_OK(nrt_tensor_read(tensor, back, 0, sizeof back));
  CHECK(memcmp(bytes, back, sizeof bytes) == 0);
  nrt_tensor_free(&tensor);
  CHECK_OK(nrt_free_model_tensor_info(info));
  CHECK_OK(nrt_unload(model));
  CHECK_STATUS(nrt_unload(model), NRT_INVALID_HANDLE);
}

static void* work(void* argument) {
  for (unsigned round = 0; round < rounds; ++round) {
    one_round((unsigned)(uintptr_t)argument, round);
  }
  return NULL;
}

/* Until the runtime closes: any status but a crash, a hang or an unknown one. */
static void* work_until_closed(void* argument) {
  for (;;) {
    nrt_model_t* model = NULL;
    nrt_tensor_t* tensor = NULL;
    const unsigned file = (unsigned)(uintptr_t)argument % file_count;
    NRT_STATUS status = nrt_load(files[file].bytes, files[file].size, -1, -1, &model);
    CHECK(status == NRT_SUCCESS || status == NRT_CLOSED || status == NRT_UNINITIALIZED);
    CHECK((status == NRT_SUCCESS) == (model != NULL));
    nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "t", &tensor);
    nrt_tensor_free(&tensor);
    if (status != NRT_SUCCESS) break;
    status = nrt_unload(model);
    CHECK(status == NRT_SUCCESS || status == NRT_CLOSED || status == NRT_UNINITIALIZED);
    if (status != NRT_SUCCESS) break;
  }
  return NULL;
}

int main(int argc, char** argv) {
  read_files(argv + 1, argc - 1);
  if (file_count == 0) return 2;
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  start(work);
  join();
  check_cores_are_empty(cores);
  start(work_until_closed);
  nrt_close();
  join();
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  one_round(0, 0);
  nrt_close();
  free_files();
  return report("threads");
}
