/* SPDX-License-Identifier: MIT */
/* Queued execution from 16 threads: different models on all cores, one model and one pair of sets,
 * while others change the callback, trace and drain; then closing races with it. queued FILE
 * FILE..: the environment allows 4 requests in flight. */
#include "crew.h"
#include "nrt/nrt_sys_trace.h"

enum { rounds = 8 };

static unsigned cores, submitted, told, ended;
static struct loaded shared;
static int first, second; /* parameters of two callbacks */

static void tell(const void* params, const void* own, NRT_STATUS status) {
  CHECK(params == own);
  CHECK_OK(status);
  __atomic_add_fetch(&told, 1, __ATOMIC_RELAXED);
}
static void tell_first(void* params, uint32_t model, uint32_t vnc, uint64_t job,
                       NRT_STATUS status) {
  CHECK(model >= 1001 && vnc < cores && job > 0);
  tell(params, &first, status);
}
static void tell_second(void* params, uint32_t model, uint32_t vnc, uint64_t job,
                        NRT_STATUS status) {
  CHECK(model >= 1001 && vnc < cores && job > 0);
  tell(params, &second, status);
}

/* Until there is room. */
static NRT_STATUS submit(struct loaded* it) {
  for (;;) {
    const NRT_STATUS status = execute_whole(it);
    if (status == NRT_SUCCESS) __atomic_add_fetch(&submitted, 1, __ATOMIC_RELAXED);
    if (status != NRT_QUEUE_FULL) return status;
    if (nrt_async_drain_queued_execs(-1) != NRT_SUCCESS) return NRT_CLOSED;
  }
}

static void* alone(void* argument) {
  struct loaded it;
  if (!load_own(&it, argument, cores)) return NULL;
  for (unsigned round = 0; round < rounds; ++round) {
    CHECK_OK(submit(&it));
    check_outputs(&it); /* waits for the execution */
  }
  CHECK_OK(submit(&it));
  unload_whole(&it); /* and so does this */
  return NULL;
}

static void* together(void* argument) {
  (void)argument;
  for (unsigned round = 0; round < rounds; ++round) CHECK_OK(submit(&shared));
  return NULL;
}

static void* until_closed(void* argument) {
  NRT_STATUS status;
  (void)argument;
  do {
    status = submit(&shared);
  } while (status == NRT_SUCCESS);
  CHECK(status == NRT_CLOSED || status == NRT_UNINITIALIZED);
  return NULL;
}

static void* meddle(void* argument) {
  (void)argument;
  for (unsigned turn = 0; !__atomic_load_n(&ended, __ATOMIC_RELAXED); ++turn) {
    char* events = NULL;
    size_t size = 0;
    CHECK_OK(turn % 2 ? nrt_register_async_exec_callback(tell_first, &first)
                      : nrt_register_async_exec_callback(tell_second, &second));
    CHECK_OK(nrt_sys_trace_start(NULL));
    CHECK_OK(nrt_async_drain_queued_execs((int32_t)(turn % cores)));
    CHECK_OK(nrt_sys_trace_fetch_events(&events, &size, NULL));
    nrt_sys_trace_buffer_free(events);
    CHECK_OK(nrt_sys_trace_stop());
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t meddler;
  read_files(argv + 1, argc - 1);
  if (file_count == 0) return 2;
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  CHECK_OK(nrt_register_async_exec_callback(tell_first, &first));
  CHECK(pthread_create(&meddler, NULL, meddle, NULL) == 0);
  start(alone);
  join();

  if (!load_whole(&shared, files[0].bytes, files[0].size, (int32_t)cores - 1)) return 1;
  start(together);
  join();
  __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
  pthread_join(meddler, NULL);
  CHECK_OK(nrt_async_drain_queued_execs(-1));
  CHECK(told == submitted && told == threads * (2 * rounds + 1));
  for (uint64_t i = 0; i < shared.info->tensor_count; ++i) {
    if (shared.info->tensor_array[i].usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    CHECK_OK(nrt_tensor_check_output_completion(shared.tensors[i], 0, threads * rounds));
    CHECK_STATUS(nrt_tensor_check_output_completion(shared.tensors[i], 0, threads * rounds + 1),
                 NRT_TIMEOUT);
    CHECK_OK(nrt_tensor_reset_output_completion(shared.tensors[i]));
    CHECK_STATUS(nrt_tensor_check_output_completion(shared.tensors[i], 0, 1), NRT_TIMEOUT);
  }

  start(until_closed);
  CHECK_OK(nrt_tensor_check_output_completion(shared.tensors[shared.info->tensor_count - 1], -1,
                                              threads));
  nrt_close(); /* ends what is queued first */
  join();
  CHECK(told == submitted);
  free_files();
  return report("queued");
}
