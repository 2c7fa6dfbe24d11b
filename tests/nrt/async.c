/* SPDX-License-Identifier: MIT */
/* Queued execution. async FILE: the environment allows 4 requests in flight. */
#include <pthread.h>

#include "model.h"

enum { in_flight = 4, executions = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int told, held;
static uint64_t last_job;

static void tell(void* params, uint32_t model_id, uint32_t vnc, uint64_t job_id,
                 NRT_STATUS status) {
  pthread_mutex_lock(&mutex);
  CHECK(params == &told);
  CHECK(model_id >= 1001);
  CHECK(vnc == 0);
  CHECK(job_id > last_job);
  CHECK_OK(status);
  last_job = job_id;
  ++told;
  while (held) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static int times_told(void) {
  int count;
  pthread_mutex_lock(&mutex);
  count = told;
  pthread_mutex_unlock(&mutex);
  return count;
}

static void hold(int value) {
  pthread_mutex_lock(&mutex);
  held = value;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

int main(int argc, char** argv) {
  struct loaded it;
  nrt_tensor_t* host = NULL;
  nrt_tensor_set_t* outputs = NULL;
  uint64_t last;
  size_t size;
  void* neff;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  if (!load_whole(&it, neff, size, 0)) return 1;
  free(neff);
  last = it.info->tensor_count - 1;
  CHECK_OK(nrt_async_drain_queued_execs(0));
  CHECK_STATUS(nrt_async_drain_queued_execs(1000), NRT_INVALID);

  /* Without a callback; a read waits for the executions that write what it reads. */
  CHECK_OK(execute_whole(&it));
  check_outputs(&it);
  CHECK_OK(execute_whole(&it));
  check_outputs(&it);

  CHECK_OK(nrt_async_drain_queued_execs(0));
  CHECK_OK(nrt_register_async_exec_callback(tell, &told));
  for (int i = 0; i < executions; ++i) {
    NRT_STATUS status;
    while ((status = execute_whole(&it)) == NRT_QUEUE_FULL) {
      CHECK_OK(nrt_async_drain_queued_execs(0));
    }
    CHECK_OK(status);
  }
  CHECK_OK(nrt_async_drain_queued_execs(-1));
  CHECK(times_told() == executions);
  CHECK_OK(nrt_tensor_check_output_completion(it.tensors[last], 0, 2 + executions));
  check_outputs(&it);

  /* While the callback is busy the queue fills up. */
  hold(1);
  for (int i = 0; i < in_flight; ++i) CHECK_OK(execute_whole(&it));
  CHECK_STATUS(execute_whole(&it), NRT_QUEUE_FULL);
  hold(0);
  CHECK_OK(nrt_async_drain_queued_execs(0));
  CHECK(times_told() == executions + in_flight);

  /* Nobody would copy an output back. */
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, it.info->tensor_array[last].size,
                               it.info->tensor_array[last].name, &host));
  CHECK_OK(nrt_allocate_tensor_set(&outputs));
  for (uint64_t i = 0; i <= last; ++i) {
    if (it.info->tensor_array[i].usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    CHECK_OK(nrt_add_tensor_to_tensor_set(outputs, it.info->tensor_array[i].name,
                                          i == last ? host : it.tensors[i]));
  }
  CHECK_STATUS(nrt_execute(it.model, it.sets[0], outputs), NRT_INVALID);
  nrt_tensor_free(&host);
  nrt_destroy_tensor_set(&outputs);

  /* Unloading and freeing wait for what is queued; closing does too. */
  for (int i = 0; i < in_flight; ++i) CHECK_OK(execute_whole(&it));
  unload_whole(&it);
  /* Whoever waits for the last one may see it end before its callback has. */
  CHECK(times_told() >= executions + 2 * in_flight - 1);
  nrt_close();
  CHECK(times_told() == executions + 2 * in_flight);
  return report("async");
}
