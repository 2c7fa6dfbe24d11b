/* SPDX-License-Identifier: MIT */
/* NULL, stale and foreign handles, bounds, and files that are none: the status each gets, and that
 * nothing crashes. misuse FILE */
#include <string.h>

#include "check.h"
#include "nrt/ndebug_stream.h"
#include "nrt/nec.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"

/* What failed leaves nothing on the device, what was freed neither. */
static void check_device_is_empty(void) {
  nrt_vnc_memory_stats_t stats;
  size_t written = 0;
  CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &written));
  CHECK(written == sizeof stats && stats.bytes_used == 0);
}

static void models(const void* neff, size_t size) {
  nrt_model_t *model = (nrt_model_t*)&failures, *stale;
  nrt_model_info_t model_info;
  nrt_tensor_info_array_t* info = NULL;
  uint32_t count = 0;
  size_t written = 99;
  unsigned char* copy = malloc(size);
  memcpy(copy, neff, size);

  CHECK_STATUS(nrt_load(neff, size, 0, -2, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load(neff, size, 0, 3, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load(neff, size, 0, -1, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_load(NULL, size, 0, -1, &model), NRT_INVALID);
  CHECK(model == NULL);
  CHECK_STATUS(nrt_load(neff, 0, 0, -1, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load(neff, 1023, 0, -1, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load(neff, size / 2, 0, -1, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load(neff, size, 4096, -1, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load(neff, size, -2, -1, &model), NRT_INVALID);
  copy[22] = 0xFF; /* data_size */
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_INVALID);
  memcpy(copy, neff, size);
  copy[24] = 3; /* major version */
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_UNSUPPORTED_NEFF_VERSION);
  memcpy(copy, neff, size);
  memset(copy + 1024, 0x5A, size - 1024);
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_INVALID);
  free(copy);
  check_device_is_empty();

  CHECK_STATUS(nrt_load_collectives(neff, size, 0, -1, 0, 0, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load_collectives(neff, size, 0, -1, 1, 1, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load_collectives(neff, size, 0, -1, 0, 2, &model), NRT_INVALID);
  CHECK_OK(nrt_load_collectives(neff, size, 0, -1, 0, 1, &model));
  CHECK_OK(nrt_unload(model));

  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  CHECK_OK(nrt_get_model_vnc_count(model, &count));
  CHECK(count == 1);
  CHECK_OK(nrt_get_model_nc_count(model, &count));
  CHECK_OK(nrt_get_model_instance_count(model, &count));
  CHECK_STATUS(nrt_get_model_nc_count(model, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_get_model_info(model, NULL, 4, &written), NRT_INVALID);
  CHECK_STATUS(nrt_get_model_info(model, &model_info, 4, NULL), NRT_INVALID);
  CHECK_OK(nrt_get_model_info(model, &model_info, 2, &written));
  CHECK(written == 2);
  CHECK_OK(nrt_get_model_info(model, &model_info, 100, &written));
  CHECK(written == 4 && model_info.vnc == 0);
  CHECK_STATUS(nrt_get_model_tensor_info(model, NULL), NRT_INVALID);

  stale = model;
  CHECK_STATUS(nrt_unload(NULL), NRT_INVALID);
  CHECK_OK(nrt_unload(model));
  CHECK_STATUS(nrt_unload(stale), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_unload((nrt_model_t*)&failures), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_get_model_vnc_count(stale, &count), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_get_model_info(stale, &model_info, 4, &written), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_get_model_tensor_info(stale, &info), NRT_INVALID_HANDLE);
  CHECK(info == NULL);
  CHECK_STATUS(nrt_get_model_tensor_info(NULL, &info), NRT_INVALID);
  CHECK_OK(nrt_free_model_tensor_info(NULL));
  CHECK_STATUS(nrt_execute(NULL, NULL, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_execute(stale, NULL, NULL), NRT_INVALID_HANDLE);
}

static void tensors(void) {
  nrt_tensor_t *tensor = NULL, *slice = NULL, *stale, *empty = NULL, *host = NULL;
  nrt_tensor_device_allocation_info_t where;
  nrt_tensor_batch_t batch = {NULL, NULL, 1};
  char bytes[16] = {0};

  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, "t", NULL), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, -1, 16, "t", &tensor), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 1 << 20, 16, "t", &tensor),
               NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 0, "t", &tensor), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate((nrt_tensor_placement_t)7, 0, 16, "t", &tensor), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, (size_t)1 << 50, "t", &tensor),
               NRT_RESOURCE);
  CHECK(tensor == NULL);
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, NULL, &tensor));

  CHECK_STATUS(nrt_tensor_read(tensor, bytes, 0, 17), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_read(tensor, bytes, 17, 0), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_read(tensor, bytes, SIZE_MAX, 2), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_read(tensor, NULL, 0, 16), NRT_INVALID);
  CHECK_OK(nrt_tensor_read(tensor, NULL, 16, 0));
  CHECK_STATUS(nrt_tensor_read(NULL, bytes, 0, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_write(tensor, bytes, 1, 16), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_write(NULL, bytes, 0, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_memset(tensor, 16, 0, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_copy(tensor, 0, tensor, 8, 9), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_copy(tensor, 0, NULL, 0, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_read_batch(NULL, 1, false), NRT_INVALID);
  CHECK_OK(nrt_tensor_read_batch(NULL, 0, false));
  CHECK_STATUS(nrt_tensor_read_batch(&batch, 1, false), NRT_INVALID);
  batch.tensor = tensor;
  CHECK_STATUS(nrt_tensor_write_batch(&batch, 1, true), NRT_INVALID);
  batch.num_ops = 0;
  CHECK_OK(nrt_tensor_write_batch(&batch, 1, true));

  CHECK_STATUS(nrt_tensor_allocate_slice(tensor, 8, 9, "s", &slice), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate_slice(tensor, SIZE_MAX, 2, "s", &slice), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate_slice(NULL, 0, 1, "s", &slice), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate_slice(tensor, 0, 1, "s", NULL), NRT_INVALID);
  CHECK(slice == NULL);

  CHECK_OK(nrt_tensor_allocate_empty("e", &empty));
  CHECK(nrt_tensor_get_size(empty) == 0 && nrt_tensor_get_va(empty) == NULL);
  CHECK_STATUS(nrt_tensor_read(empty, bytes, 0, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_attach_buffer(empty, NULL, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_get_device_allocation_info(empty, &where), NRT_INVALID);
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 16, "h", &host));
  CHECK_STATUS(nrt_tensor_get_device_allocation_info(host, &where), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_get_device_allocation_info(tensor, NULL), NRT_INVALID);

  CHECK_STATUS(nrt_tensor_check_output_completion(NULL, 0, 1), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_check_output_completion(tensor, 1000, 1), NRT_TIMEOUT);
  CHECK_OK(nrt_tensor_check_output_completion(tensor, 0, 0));
  CHECK_STATUS(nrt_tensor_reset_output_completion(NULL), NRT_INVALID);
  CHECK_OK(nrt_tensor_reset_output_completion(tensor));

  stale = tensor;
  nrt_tensor_free(&tensor);
  CHECK(tensor == NULL);
  nrt_tensor_free(&tensor);
  nrt_tensor_free(NULL);
  tensor = stale;
  nrt_tensor_free(&tensor);
  CHECK_STATUS(nrt_tensor_read(stale, bytes, 0, 1), NRT_INVALID);
  CHECK(nrt_tensor_get_size(stale) == 0 && nrt_tensor_get_va(stale) == NULL);
  nrt_tensor_free(&empty);
  nrt_tensor_free(&host);
}

static void sets(void) {
  nrt_tensor_set_t *set = NULL, *stale;
  nrt_tensor_t *tensor = NULL, *found = NULL;
  CHECK_STATUS(nrt_allocate_tensor_set(NULL), NRT_INVALID);
  CHECK_OK(nrt_allocate_tensor_set(&set));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, "a", &tensor));
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(NULL, "a", tensor), NRT_INVALID);
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(set, NULL, tensor), NRT_INVALID);
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(set, "a", NULL), NRT_INVALID);
  CHECK_STATUS(nrt_get_tensor_from_tensor_set(set, "a", &found), NRT_FAILURE);
  CHECK_STATUS(nrt_get_tensor_from_tensor_set(set, "a", NULL), NRT_INVALID);
  CHECK(found == NULL);
  CHECK_OK(nrt_add_tensor_to_tensor_set(set, "a", tensor));
  CHECK_OK(nrt_get_tensor_from_tensor_set(set, "a", &found));
  CHECK(found == tensor);
  stale = set;
  nrt_destroy_tensor_set(&set);
  CHECK(set == NULL);
  nrt_destroy_tensor_set(&set);
  nrt_destroy_tensor_set(NULL);
  set = stale;
  nrt_destroy_tensor_set(&set);
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(stale, "a", tensor), NRT_INVALID);
  /* A tensor is no set. */
  CHECK_STATUS(nrt_get_tensor_from_tensor_set(tensor, "a", &found), NRT_INVALID);
  nrt_tensor_free(&tensor);
}

static void the_rest(void) {
  const char** texts = NULL;
  nrt_inspect_config_t* inspect = NULL;
  nrt_profile_continuous_options_t* continuous = NULL;
  ndebug_stream_event_header_t event;
  nrt_vnc_memory_stats_t stats;
  uint32_t number = 0, map[64];
  char word[4] = "abc", out[4] = "", text[8];
  size_t size = 0;
  int value = 7, devices[64];
  void* address = NULL;

  CHECK_STATUS(nrt_get_vnc_memory_stats(1 << 20, &stats, sizeof stats, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_vnc_memory_stats(0, NULL, 16, &size), NRT_INVALID);
  CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, 8, &size));
  CHECK(size == 8);
  CHECK_OK(nrt_host_device_id_get(0, &number));
  CHECK(number == 0);
  CHECK_STATUS(nrt_host_device_id_get(1000, &number), NRT_INVALID);
  number = 64;
  CHECK_OK(nrt_host_device_id_rid_map_get(&number, map));
  CHECK(number >= 1 && map[0] == 0);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 0, &address, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 1000, &address, &size), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_get_dmabuf_fd(0, 0, &value), NRT_INVALID);
  CHECK_STATUS(nrt_get_attached_efa_bdf(NULL, text, &size), NRT_FAILURE);

  CHECK_OK(nrt_barrier(0, 0, 1));
  CHECK_STATUS(nrt_barrier(0, 0, 2), NRT_INVALID);
  CHECK_OK(nrt_build_global_comm(0, 0, 1));
  CHECK_OK(nrt_cc_global_comm_init(0, 0, 1));
  CHECK_OK(nrt_all_gather(0, 0, 1, 4, word, out));
  CHECK(strcmp(out, "abc") == 0);
  CHECK_STATUS(nrt_all_gather(0, 0, 1, 4, NULL, out), NRT_INVALID);
  CHECK_STATUS(nrt_cc_create_stream(0), NRT_INVALID);
  CHECK(nrt_get_libnccl_net(&value, text, sizeof text) == NULL);
  CHECK(value == NRT_INVALID && strlen(text) == 7);
  CHECK_OK(nrt_async_drain_queued_execs(0));
  CHECK_OK(nrt_register_async_exec_callback(NULL, NULL));
  CHECK_STATUS(nrt_set_pool_eng_ucode(NULL), NRT_FAILURE);
  CHECK_OK(nrt_memcpy_to_device(out, word, 4));
  CHECK_STATUS(nrt_memcpy_to_device(NULL, word, 4), NRT_INVALID);

  /* Both flavours of these prototypes are in use: no argument may be looked at. */
  CHECK_STATUS(
      nrta_tensor_write((nrt_tensor_t*)1, (void*)1, 0, 1, 0, 0, (NRT_STATUS*)1, (nrta_seq_t*)1),
      NRT_INVALID);
  CHECK_STATUS(nrta_error_tracker_create(0, (nrta_error_tracker_t**)1), NRT_INVALID);
  nrta_error_tracker_destroy((nrta_error_tracker_t*)1);
  CHECK_OK(nrt_async_sendrecv_get_max_num_pending_request(&value));
  CHECK(value == 0);
  CHECK_STATUS(nrt_async_sendrecv_init(0), NRT_INVALID);
  CHECK_STATUS(nrt_trace_start(true), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_begin(), NRT_INVALID);
  CHECK_STATUS(nrt_debug_client_connect(0, &value), NRT_INVALID);
  CHECK_STATUS(nrt_debug_client_read_one_event(0, &event, &address), NRT_QUEUE_EMPTY);

  CHECK(nec_get_device_count(devices, 64) >= 1 && devices[0] == 0);
  CHECK_OK(nec_get_virtual_core_size(&number));
  CHECK(number == 1 || number == 2);
  CHECK(nec_mla_idx_to_rid(0, 0) == -1 && !nec_is_mla_available(0, 0));

  CHECK_OK(nrt_inspect_config_allocate(&inspect));
  CHECK_STATUS(nrt_inspect_config_set_output_dir(inspect, ""), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_set_activity(inspect, "sleep", true), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_activity(inspect, "all", false));
  CHECK_OK(nrt_inspect_config_set_activity(inspect, "cpu_util", true));
  CHECK_OK(nrt_inspect_config_get_enabled_activity_types(inspect, &texts, &size));
  CHECK(size == 1 && strcmp(texts[0], "cpu_util") == 0);
  nrt_inspect_config_free_activity_types(texts, size);
  CHECK_OK(nrt_inspect_config_get_all_activity_types(&texts, &size));
  CHECK(size == 5);
  for (size_t i = 0; i < size; ++i) free((void*)texts[i]);
  free(texts);
  CHECK_STATUS(nrt_inspect_config_set_defaults(NULL), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_free(inspect));
  CHECK_OK(nrt_profile_continuous_options_allocate(&continuous));
  CHECK_OK(nrt_profile_continuous_options_set_output_dir(continuous, "x"));
  CHECK_OK(nrt_profile_continuous_options_free(continuous));
  CHECK_OK(nrt_sys_trace_get_event_types(&texts, &size));
  CHECK(size > 0);
  nrt_sys_trace_free_event_types(texts, size);
  CHECK_STATUS(nrt_profile_start(NULL, "x"), NRT_INVALID);
}

int main(int argc, char** argv) {
  size_t size;
  void* neff;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  models(neff, size);
  check_device_is_empty();
  tensors();
  check_device_is_empty();
  sets();
  the_rest();
  nrt_close();
  free(neff);
  return report("misuse");
}
