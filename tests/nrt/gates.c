/* SPDX-License-Identifier: MIT */
/* What every function answers outside nrt_init() and nrt_close(): before, after, while closing and
 * in forked children; and what functions with nothing behind them answer in between. gates FILE:
 * the environment allows 4 requests in flight. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"
#include "nrt/ndebug_stream.h"
#include "nrt/nec.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"
#include "nrt/nrt_version.h"

#define NOWHERE ((void*)1) /* no argument of a refused call may be looked at */

/* Functions with a status and nothing behind them. */
static void stubs(NRT_STATUS expected) {
  CHECK_STATUS(nrt_cc_create_stream(0), expected);
  CHECK_STATUS(nrta_tensor_write(NOWHERE, NOWHERE, 0, 1, 0, 0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrta_tensor_read(NOWHERE, NOWHERE, 0, 1, 0, 0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrta_tensor_copy(NOWHERE, 0, NOWHERE, 0, 1, 0, 0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrta_execute_schedule(NOWHERE, NOWHERE, NOWHERE, 0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrta_cc_prepare(NOWHERE, NOWHERE, NOWHERE, NRT_DTYPE_UINT8, NRT_OP_ADD,
                               NRT_CC_ALLGATHER, NOWHERE),
               expected);
  CHECK_STATUS(nrta_cc_schedule(NOWHERE, 0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrta_is_completed(0, NOWHERE), expected);
  CHECK_STATUS(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, NOWHERE), expected);
  CHECK_STATUS(nrta_get_completion_handle(0, NOWHERE), expected);
  CHECK_STATUS(nrta_error_tracker_create(0, NOWHERE), expected);
  CHECK_STATUS(nrta_error_tracker_get_list(NOWHERE, NOWHERE, NOWHERE), expected);
  nrta_error_tracker_destroy(NOWHERE);
  CHECK_STATUS(nrt_async_sendrecv_init(0), expected);
  CHECK_STATUS(nrt_async_sendrecv_close(0), expected);
  CHECK_STATUS(nrt_async_sendrecv_connect(NOWHERE, 0, 0, NOWHERE), expected);
  CHECK_STATUS(nrt_async_sendrecv_accept(NOWHERE, 0, 0, NOWHERE), expected);
  CHECK_STATUS(nrt_async_sendrecv_test_comm(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_async_sendrecv_send_tensor(NOWHERE, 0, 1, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_async_sendrecv_recv_tensor(NOWHERE, 0, 1, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_async_sendrecv_test_request(NOWHERE, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_async_sendrecv_flush(0), expected);
  CHECK_STATUS(nrt_profile_continuous_start(NOWHERE), expected);
  CHECK_STATUS(nrt_profile_continuous_save(0, NOWHERE), expected);
  CHECK_STATUS(nrt_profile_continuous_stop(), expected);
  CHECK_STATUS(nrt_profile_session_start(0), expected);
  CHECK_STATUS(nrt_profile_session_stop(0, NOWHERE), expected);
  CHECK_STATUS(nrt_profile_session_serialize(0, NOWHERE), expected);
  CHECK_STATUS(nrt_profile_session_drop(0), expected);
  CHECK_STATUS(nrt_profile_session_drop_all(0), expected);
  CHECK_STATUS(nrt_trace_start(true), expected);
  CHECK_STATUS(nrt_trace_stop(NOWHERE), expected);
  CHECK_STATUS(nrt_inspect_begin(), expected);
  CHECK_STATUS(nrt_inspect_begin_with_options(NOWHERE), expected);
  CHECK_STATUS(nrt_inspect_stop(), expected);
  CHECK_STATUS(nrt_inspect_get_instance_output_dir(NOWHERE, NOWHERE, 8), expected);
  CHECK_STATUS(nrt_debug_client_connect(0, NOWHERE), expected);
}

/* All the others that need nrt_init(): the state comes before the arguments. */
static void gates(NRT_STATUS expected) {
  stubs(expected);
  CHECK_STATUS(nrt_load(NOWHERE, 9999, 0, -1, NOWHERE), expected);
  CHECK_STATUS(nrt_load_collectives(NOWHERE, 9999, 0, -1, 0, 1, NOWHERE), expected);
  CHECK_STATUS(nrt_unload(NOWHERE), expected);
  CHECK_STATUS(nrt_get_model_nc_count(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_model_vnc_count(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_model_instance_count(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_model_info(NOWHERE, NOWHERE, 4, NOWHERE), expected);
  CHECK_STATUS(nrt_get_model_tensor_info(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_allocate_tensor_set(NOWHERE), expected);
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(NOWHERE, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_tensor_from_tensor_set(NOWHERE, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_execute(NOWHERE, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_execute_repeat(NOWHERE, NOWHERE, NOWHERE, 9), expected);
  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_tensor_allocate_empty(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_tensor_attach_buffer(NOWHERE, NOWHERE, 8), expected);
  CHECK_STATUS(nrt_tensor_allocate_slice(NOWHERE, 0, 8, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_tensor_read(NOWHERE, NOWHERE, 0, 8), expected);
  CHECK_STATUS(nrt_tensor_write(NOWHERE, NOWHERE, 0, 8), expected);
  CHECK_STATUS(nrt_tensor_read_batch(NOWHERE, 1, false), expected);
  CHECK_STATUS(nrt_tensor_write_batch(NOWHERE, 1, true), expected);
  CHECK_STATUS(nrt_tensor_copy(NOWHERE, 0, NOWHERE, 0, 8), expected);
  CHECK_STATUS(nrt_tensor_memset(NOWHERE, 0, 0, 8), expected);
  CHECK_STATUS(nrt_tensor_get_device_allocation_info(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_vnc_memory_stats(0, NOWHERE, 16, NOWHERE), expected);
  CHECK_STATUS(nrt_async_drain_queued_execs(-1), expected);
  CHECK_STATUS(nrt_register_async_exec_callback(NULL, NULL), expected);
  CHECK_STATUS(nrt_host_device_id_get(0, NOWHERE), expected);
  CHECK_STATUS(nrt_host_device_id_rid_map_get(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_get_dmabuf_fd(0, 0, NOWHERE), expected);
  CHECK_STATUS(nrt_get_attached_efa_bdf(NOWHERE, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_sys_trace_start(NOWHERE), expected);
  CHECK_STATUS(nrt_sys_trace_stop(), expected);
  CHECK_STATUS(nrt_sys_trace_fetch_events(NOWHERE, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_profile_start(NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_profile_stop(NOWHERE), expected);
  CHECK_STATUS(nrt_build_global_comm(0, 0, 1), expected);
  CHECK_STATUS(nrt_cc_global_comm_init(0, 0, 1), expected);
  CHECK_STATUS(nrt_barrier(0, 0, 1), expected);
  CHECK_STATUS(nrt_all_gather(0, 0, 1, 8, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nrt_debug_client_read_one_event(0, NOWHERE, NOWHERE), expected);
  CHECK_STATUS(nec_get_virtual_core_size(NOWHERE), expected);
  CHECK(nec_get_device_count(NOWHERE, 8) == -1);
  CHECK(nrt_tensor_get_va(NOWHERE) == NULL);
  /* Except that a wrong count of cores is found first. */
  CHECK_STATUS(nrt_load(NOWHERE, 9999, 0, 3, NOWHERE), NRT_INVALID);
  CHECK_STATUS(nrt_load_collectives(NOWHERE, 9999, 0, -2, 0, 1, NOWHERE), NRT_INVALID);
}

/* What no state keeps out. */
static void questions(void) {
  nrt_version_t version;
  nrt_instance_info_t instance;
  nrt_inspect_config_t* inspect = NULL;
  nrt_sys_trace_config_t* trace = NULL;
  uint32_t count = 0;
  char from[4] = "abc", to[4] = "";
  CHECK_OK(nrt_get_version(&version, sizeof version));
  CHECK_OK(nrt_get_instance_info(&instance, sizeof instance));
  CHECK_OK(nrt_get_total_vnc_count(&count));
  CHECK_OK(nrt_get_total_nc_count(&count));
  CHECK_OK(nrt_get_visible_vnc_count(&count));
  CHECK_OK(nrt_get_visible_nc_count(&count));
  CHECK(count > 0);
  CHECK_OK(nrt_memcpy_to_device(to, from, sizeof to));
  CHECK(strcmp(to, from) == 0);
  CHECK_OK(nrt_inspect_config_allocate(&inspect));
  CHECK_OK(nrt_inspect_config_free(inspect));
  CHECK_OK(nrt_sys_trace_config_allocate(&trace));
  nrt_sys_trace_config_free(trace);
  CHECK(nrt_tensor_get_size(NOWHERE) == 0);
}

/* The one function that works before nrt_init() only. */
static void microcode(int before_init) {
  unsigned char bytes[4] = {1, 2, 3, 4};
  nrt_ucode_info info = {{bytes, sizeof bytes}, {bytes, sizeof bytes}};
  const NRT_STATUS bad = before_init ? NRT_INVALID : NRT_FAILURE;
  CHECK_STATUS(nrt_set_pool_eng_ucode(&info), before_init ? NRT_SUCCESS : NRT_FAILURE);
  CHECK_STATUS(nrt_set_pool_eng_ucode(NULL), bad);
  info.dram.size = 0;
  CHECK_STATUS(nrt_set_pool_eng_ucode(&info), bad);
  info.dram.size = 4;
  info.iram.bin = NULL;
  CHECK_STATUS(nrt_set_pool_eng_ucode(&info), bad);
}

/* Runs in a forked child; its failures count here. */
static void in_child(void (*body)(void*), void* argument) {
  const pid_t child = fork();
  int status = -1;
  if (child == 0) {
    failures = 0;
    body(argument);
    _exit(failures ? 1 : 0);
  }
  CHECK(child > 0);
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void* neff;
static size_t neff_size;
static uint32_t cores;

/* Without a runtime in the parent a child has one of its own. */
static void child_of_none(void* argument) {
  struct loaded it;
  (void)argument;
  gates(NRT_UNINITIALIZED);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  if (!load_whole(&it, neff, neff_size, 0)) return;
  CHECK_OK(execute_whole(&it));
  CHECK_OK(nrt_async_drain_queued_execs(-1));
  unload_whole(&it);
  nrt_close();
}

/* Of a parent's runtime a child has nothing but the number of its cores, for good. */
static void child_of_one(void* argument) {
  struct loaded* it = argument;
  nrt_tensor_t* tensor = it->tensors[0];
  nrt_tensor_set_t* set = it->sets[0];
  uint32_t count = 0;
  gates(NRT_FAILURE);
  questions();
  microcode(0);
  CHECK_STATUS(execute_whole(it), NRT_FAILURE);
  CHECK_STATUS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_FAILURE);
  CHECK_OK(nrt_get_visible_vnc_count(&count));
  CHECK(count == cores);
  CHECK(nrt_tensor_get_size(tensor) == 0);
  CHECK_STATUS(nrt_tensor_check_output_completion(tensor, -1, 1), NRT_FAILURE);
  CHECK_STATUS(nrt_tensor_reset_output_completion(tensor), NRT_FAILURE);
  nrt_tensor_free(&tensor);
  nrt_destroy_tensor_set(&set);
  CHECK(tensor == NULL && set == NULL);
  nrt_close();
  CHECK_STATUS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_FAILURE);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int told, held = 1;

static void tell(void* params, uint32_t model_id, uint32_t vnc, uint64_t job_id,
                 NRT_STATUS status) {
  (void)params;
  (void)model_id;
  (void)vnc;
  (void)job_id;
  CHECK_OK(status);
  pthread_mutex_lock(&mutex);
  ++told;
  pthread_cond_broadcast(&changed);
  while (held) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void* close_runtime(void* argument) {
  nrt_close();
  return argument;
}

static atomic_int starting;

static void* start_and_close(void* argument) {
  while (starting) {
    CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    nrt_close();
  }
  return argument;
}

/* What works in every state, by threads that hold its locks when the process forks. */
static void* use_and_free(void* argument) {
  while (starting) {
    nrt_instance_info_t info;
    nrt_tensor_t* tensor = NULL;
    nrt_tensor_set_t* set = NULL;
    CHECK_OK(nrt_get_instance_info(&info, sizeof info));
    /* The other thread may close in between. */
    if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 64, "x", &tensor) == NRT_SUCCESS) {
      (void)nrt_allocate_tensor_set(&set);
    }
    nrt_tensor_get_size(tensor);
    nrt_tensor_free(&tensor);
    nrt_destroy_tensor_set(&set);
  }
  return argument;
}

static void try_to_start(void* argument) {
  NRT_STATUS status;
  (void)argument;
  alarm(60); /* nobody is there to let a lock go */
  status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  CHECK(status == NRT_SUCCESS || status == NRT_FAILURE);
  if (status == NRT_SUCCESS) {
    nrt_tensor_t* tensor = NULL;
    nrt_tensor_set_t* set = NULL;
    CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 64, "x", &tensor));
    CHECK_OK(nrt_allocate_tensor_set(&set));
    nrt_destroy_tensor_set(&set);
    nrt_tensor_free(&tensor);
  } else {
    uint32_t count = 0;
    CHECK_OK(nrt_get_visible_vnc_count(&count));
    CHECK(count != 0);
  }
  questions();
  nrt_close();
}

/* Whatever another thread is doing for a runtime when a process forks, the child gets an answer. */
static void forks_while_another_starts(void* argument) {
  pthread_t others[3];
  starting = 1;
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_create(&others[i], NULL, i == 0 ? start_and_close : use_and_free, argument) == 0);
  }
  for (int i = 0; i < 100; ++i) in_child(try_to_start, argument);
  starting = 0;
  for (int i = 0; i < 3; ++i) pthread_join(others[i], NULL);
}

/* Closing waits for what is queued, and the queue waits for us. */
static void while_closing(pthread_t* closer) {
  NRT_STATUS status;
  CHECK(pthread_create(closer, NULL, close_runtime, NULL) == 0);
  do {
    nrt_tensor_set_t* set = NULL;
    status = nrt_allocate_tensor_set(&set);
    nrt_destroy_tensor_set(&set);
  } while (status == NRT_SUCCESS);
  CHECK_STATUS(status, NRT_CLOSED);
  gates(NRT_CLOSED);
  questions();
  microcode(0);
  CHECK_STATUS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_CLOSED);
  nrt_close(); /* somebody does already */
}

int main(int argc, char** argv) {
  struct loaded it;
  pthread_t closer;
  nrt_tensor_t* kept;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &neff_size);

  gates(NRT_UNINITIALIZED);
  questions();
  microcode(1);
  in_child(child_of_none, NULL);
  in_child(forks_while_another_starts, NULL);

  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  stubs(NRT_INVALID);
  stubs(NRT_INVALID);
  questions();
  microcode(0);
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  if (!load_whole(&it, neff, neff_size, 0)) return 1;
  CHECK_OK(nrt_register_async_exec_callback(tell, NULL));
  for (int i = 0; i < 3; ++i) CHECK_OK(execute_whole(&it));
  pthread_mutex_lock(&mutex);
  while (told == 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  in_child(child_of_one, &it);

  while_closing(&closer);
  pthread_mutex_lock(&mutex);
  held = 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(closer, NULL);
  CHECK(told == 3);

  gates(NRT_UNINITIALIZED);
  questions();
  microcode(1);
  in_child(child_of_none, NULL);
  /* What came from the closed runtime can still be given back. */
  kept = it.tensors[0];
  CHECK(nrt_tensor_get_size(kept) == it.info->tensor_array[0].size);
  for (uint64_t i = 0; i < it.info->tensor_count; ++i) nrt_tensor_free(&it.tensors[i]);
  CHECK(nrt_tensor_get_size(kept) == 0);
  nrt_destroy_tensor_set(&it.sets[0]);
  nrt_destroy_tensor_set(&it.sets[1]);
  CHECK_OK(nrt_free_model_tensor_info(it.info));
  free(it.tensors);
  free(it.wanted);
  free(neff);
  return report("gates");
}
