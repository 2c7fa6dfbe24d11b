/* SPDX-License-Identifier: MIT */
/* 16 threads execute, some of them one model, on all cores; models are unloaded while others
 * execute them, and closing races with all of it. busy FILE FILE...
 * busy alone FILE...: only the first part, one execution a thread: for files that take seconds. */
#include <string.h>

#include "crew.h"

static unsigned rounds = 8;
static unsigned cores;
static struct loaded shared;

static int is_expected(NRT_STATUS status) {
  return status == NRT_SUCCESS || status == NRT_INVALID_HANDLE || status == NRT_CLOSED ||
         status == NRT_UNINITIALIZED || status == NRT_INVALID;
}

/* Its own model on its own core, compared with its first outputs. */
static void* alone(void* argument) {
  struct loaded it;
  if (!load_own(&it, argument, cores)) return NULL;
  for (unsigned round = 0; round < rounds; ++round) {
    CHECK_OK(execute_whole(&it));
    check_outputs(&it);
  }
  unload_whole(&it);
  return NULL;
}

/* All on one model and one set of tensors. */
static void* together(void* argument) {
  (void)argument;
  for (unsigned round = 0; round < rounds; ++round) CHECK_OK(execute_whole(&shared));
  return NULL;
}

/* Until the model or the runtime goes. */
static void* until_gone(void* argument) {
  (void)argument;
  for (;;) {
    const NRT_STATUS status = execute_whole(&shared);
    CHECK(is_expected(status));
    if (status != NRT_SUCCESS) return NULL;
  }
}

int main(int argc, char** argv) {
  const int only_alone = argc > 1 && strcmp(argv[1], "alone") == 0;
  if (only_alone) rounds = 1;
  read_files(argv + 1 + only_alone, argc - 1 - only_alone);
  if (file_count == 0) return 2;
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  start(alone);
  join();
  if (only_alone) {
    nrt_close();
    return report("busy alone");
  }

  if (!load_whole(&shared, files[0].bytes, files[0].size, 0)) return 1;
  CHECK_OK(execute_whole(&shared));
  check_outputs(&shared);
  start(together);
  join();
  check_outputs(&shared);
  for (uint64_t i = 0; i < shared.info->tensor_count; ++i) {
    if (shared.info->tensor_array[i].usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    CHECK_OK(nrt_tensor_check_output_completion(shared.tensors[i], 0, 1 + threads * rounds));
  }

  start(until_gone);
  CHECK_OK(nrt_tensor_check_output_completion(shared.tensors[shared.info->tensor_count - 1], -1,
                                              2 + threads * rounds));
  unload_whole(&shared);
  join();

  if (!load_whole(&shared, files[0].bytes, files[0].size, 0)) return 1;
  start(until_gone);
  CHECK_OK(
      nrt_tensor_check_output_completion(shared.tensors[shared.info->tensor_count - 1], -1, 1));
  nrt_close();
  join();
  free_files();
  return report("busy");
}
