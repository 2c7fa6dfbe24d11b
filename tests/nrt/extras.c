/* SPDX-License-Identifier: MIT */
/* The functions beside models and tensors: what they answer, with right and wrong arguments. extras
 * FILE */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "nrt/ndebug_stream.h"
#include "nrt/nec.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"

static void devices(void) {
  nrt_vnc_memory_stats_t stats;
  uint32_t number = 0, map[64];
  char text[8];
  size_t size = 0;
  int value = 7;
  void* address = NULL;
  CHECK_STATUS(nrt_get_vnc_memory_stats(1 << 20, &stats, sizeof stats, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_vnc_memory_stats(0, NULL, 16, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_vnc_memory_stats(0, &stats, 16, NULL), NRT_INVALID);
  CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, 8, &size));
  CHECK(size == 8);
  CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, 1000, &size));
  CHECK(size == sizeof stats);
  CHECK_OK(nrt_host_device_id_get(0, &number));
  CHECK(number == 0);
  CHECK_STATUS(nrt_host_device_id_get(1000, &number), NRT_INVALID);
  number = 64;
  CHECK_OK(nrt_host_device_id_rid_map_get(&number, map));
  CHECK(number >= 1 && map[0] == 0);
  CHECK_STATUS(nrt_host_device_id_get(-1, &number), NRT_INVALID);
  CHECK_STATUS(nrt_host_device_id_get(0, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_host_device_id_rid_map_get(NULL, map), NRT_INVALID);
  CHECK_STATUS(nrt_host_device_id_rid_map_get(&number, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(1000, 0, &address, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, -1, &address, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 0, NULL, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 0, &address, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_get_dmabuf_fd(0, 0, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_get_attached_efa_bdf(NULL, NULL, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_attached_efa_bdf(NULL, text, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 0, &address, &size), NRT_INVALID);
  CHECK_STATUS(nrt_get_hbm_mmap_va(0, 1000, &address, &size), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_get_dmabuf_fd(0, 0, &value), NRT_INVALID);
  CHECK_STATUS(nrt_get_attached_efa_bdf(NULL, text, &size), NRT_FAILURE);
}

static void collectives_and_queues(void) {
  ndebug_stream_event_header_t event;
  char word[4] = "abc", out[4] = "", text[8];
  int value = 7;
  void* address = NULL;
  CHECK_OK(nrt_barrier(0, 0, 1));
  CHECK_STATUS(nrt_barrier(0, 0, 2), NRT_INVALID);
  CHECK_OK(nrt_build_global_comm(0, 0, 1));
  CHECK_OK(nrt_cc_global_comm_init(0, 0, 1));
  CHECK_OK(nrt_all_gather(0, 0, 1, 4, word, out));
  CHECK(strcmp(out, "abc") == 0);
  CHECK_STATUS(nrt_all_gather(0, 0, 1, 4, NULL, out), NRT_INVALID);
  CHECK_STATUS(nrt_all_gather(0, 0, 1, 4, word, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_all_gather(0, 0, 2, 4, word, out), NRT_INVALID);
  CHECK_STATUS(nrt_build_global_comm(0, 1, 1), NRT_INVALID);
  CHECK_STATUS(nrt_cc_global_comm_init(0, 0, 0), NRT_INVALID);
  CHECK_STATUS(nrt_cc_create_stream(0), NRT_INVALID);
  CHECK(nrt_get_libnccl_net(&value, text, sizeof text) == NULL);
  CHECK(value == NRT_INVALID && strlen(text) == 7);
  CHECK(nrt_get_libnccl_net(NULL, NULL, 0) == NULL);
  CHECK_OK(nrt_async_drain_queued_execs(0));
  CHECK_OK(nrt_async_drain_queued_execs(-1));
  CHECK_STATUS(nrt_async_drain_queued_execs(-2), NRT_INVALID);
  CHECK_OK(nrt_register_async_exec_callback(NULL, NULL));
  CHECK_STATUS(nrt_set_pool_eng_ucode(NULL), NRT_FAILURE);
  CHECK_OK(nrt_memcpy_to_device(out, word, 4));
  CHECK_STATUS(nrt_memcpy_to_device(NULL, word, 4), NRT_INVALID);
  CHECK_STATUS(nrt_memcpy_to_device(out, NULL, 4), NRT_INVALID);
  CHECK_OK(nrt_memcpy_to_device(NULL, NULL, 0));

  CHECK_OK(nrt_async_sendrecv_get_max_num_communicators_per_lnc(&value));
  CHECK(value == 0);
  CHECK_STATUS(nrt_async_sendrecv_get_max_num_communicators_per_lnc(NULL), NRT_INVALID);
  CHECK_STATUS(nrt_async_sendrecv_get_max_num_pending_request(NULL), NRT_INVALID);
  CHECK_OK(nrt_async_sendrecv_get_max_num_pending_request(&value));
  CHECK(value == 0);
  nrt_debug_client_connect_close(0);
  CHECK_STATUS(nrt_debug_client_read_one_event(0, &event, &address), NRT_QUEUE_EMPTY);
}

/* What a collectives library asks: there are devices, and no links between them. */
static void links(void) {
  uint32_t number = 0;
  int devices[64];
  CHECK(nec_get_device_count(devices, 64) >= 1 && devices[0] == 0);
  CHECK_OK(nec_get_virtual_core_size(&number));
  CHECK(number == 1 || number == 2);
  CHECK_STATUS(nec_get_virtual_core_size(NULL), NRT_INVALID);
  CHECK(nec_get_device_count(NULL, 0) >= 1);
  CHECK_STATUS(nec_get_version_info(NULL), NRT_INVALID);
  CHECK_STATUS(nec_build_port_and_rid_map(0, NULL, NULL, 0), NRT_INVALID);
  CHECK_STATUS(nec_pod_node_can_access_peer_node(NEC_POD_TYPE_NONE, 0, 0, 0, 0, NULL), NRT_INVALID);
  CHECK(!nec_is_mla_available(0, 0));
  CHECK(nec_mla_idx_to_rid(0, 0) == -1 && nec_rid_to_mla_idx(0, 0) == -1);
  CHECK(nec_get_peer_mla_idx(0, 0, 0) == -1 && nec_get_p2p_pod_peer_node(0, 0, 0, NULL) == -1);
  CHECK(nec_get_device_pci_bdf(0, NULL, NULL, NULL, NULL) == -1);
  CHECK(nec_get_dynamic_send_size_bytes(NULL, 4, 0, 0) == 0);
  CHECK(nec_get_dynamic_send_offset_bytes(NULL, 4, 0, 0) == 0);
  CHECK(nec_get_dynamic_recv_offset_bytes(NULL, 4, 0, 0) == 0);
  nec_set_recv_size_bytes(NULL, 4, 4, 0, 0);
  nec_inc_semaphore(NULL, 1);
  nec_ndl_printk(NULL, 0, 0);
}

/* The objects of profiles, traces and inspection. */
static void options(void) {
  const char** texts = NULL;
  nrt_inspect_config_t* inspect = NULL;
  nrt_profile_continuous_options_t* continuous = NULL;
  nrt_sys_trace_config_t* trace = NULL;
  nrt_sys_trace_fetch_options_t* fetch = NULL;
  char* events = NULL;
  size_t size = 0;

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
  CHECK_STATUS(nrt_inspect_config_allocate(NULL), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_set_defaults(NULL), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_set_session_id(NULL, 2), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_session_id(inspect, 2));
  CHECK_STATUS(nrt_inspect_config_set_output_dir(inspect, NULL), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_output_dir(inspect, "x"));
  CHECK_STATUS(nrt_inspect_config_set_activity(inspect, NULL, true), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_set_capture_enabled_for_event_type_string(inspect, "sleep", true),
               NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_set_capture_enabled_for_event_type_string(inspect, NULL, true),
               NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_capture_enabled_for_event_type_string(inspect, "nc_exec_running",
                                                                        true));
  CHECK_OK(nrt_inspect_config_set_capture_enabled_for_nc(inspect, 0, true));
  CHECK_STATUS(nrt_inspect_config_set_capture_enabled_for_nc(NULL, 0, true), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_sys_trace_max_events_per_nc(inspect, 8));
  CHECK_STATUS(nrt_inspect_config_set_sys_trace_max_events_per_nc(NULL, 8), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_enable_inspect(inspect, true));
  CHECK_STATUS(nrt_inspect_config_set_enable_inspect(NULL, true), NRT_INVALID);
  CHECK_OK(nrt_inspect_config_set_enable_inspect_on_fail(inspect, true));
  CHECK_STATUS(nrt_inspect_config_set_enable_inspect_on_fail(NULL, true), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_set_inspect_device_profile_mode(
                   inspect, (nrt_inspect_device_profile_mode_t)3),
               NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_get_all_activity_types(NULL, &size), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_get_all_activity_types(&texts, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_inspect_config_get_enabled_activity_types(NULL, &texts, &size), NRT_INVALID);
  nrt_inspect_config_free_activity_types(NULL, 0);
  CHECK_OK(nrt_inspect_config_free(NULL));
  CHECK_OK(nrt_inspect_config_free(inspect));
  CHECK_OK(nrt_profile_continuous_options_allocate(&continuous));
  CHECK_OK(nrt_profile_continuous_options_set_output_dir(continuous, "x"));
  CHECK_STATUS(nrt_profile_continuous_options_allocate(NULL), NRT_INVALID);
  CHECK_STATUS(nrt_profile_continuous_options_set_output_dir(continuous, ""), NRT_INVALID);
  CHECK_STATUS(nrt_profile_continuous_options_set_output_dir(continuous, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_profile_continuous_options_set_output_dir(NULL, "x"), NRT_INVALID);
  CHECK_OK(nrt_profile_continuous_options_free(NULL));
  CHECK_OK(nrt_profile_continuous_options_free(continuous));
  CHECK_OK(nrt_sys_trace_get_event_types(&texts, &size));
  CHECK(size > 0);
  nrt_sys_trace_free_event_types(texts, size);
  nrt_sys_trace_free_event_types(NULL, 0);
  CHECK_STATUS(nrt_sys_trace_get_event_types(NULL, &size), NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_get_event_types(&texts, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_config_allocate(NULL), NRT_INVALID);
  CHECK_OK(nrt_sys_trace_config_allocate(&trace));
  CHECK_STATUS(nrt_sys_trace_config_set_capture_enabled_for_event_type(trace, "sleep", true),
               NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_config_set_capture_enabled_for_event_type(trace, NULL, true),
               NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_config_set_capture_enabled_for_event_type(NULL, "sleep", true),
               NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_config_get_enabled_event_types(NULL, &texts, &size), NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_config_get_enabled_event_types(trace, NULL, &size), NRT_INVALID);
  nrt_sys_trace_config_set_defaults(NULL);
  nrt_sys_trace_config_set_max_events_per_nc(NULL, 1);
  nrt_sys_trace_config_set_capture_enabled_for_nc(NULL, 0, true);
  nrt_sys_trace_config_free(trace);
  nrt_sys_trace_config_free(NULL);
  CHECK_STATUS(nrt_sys_trace_fetch_options_allocate(NULL), NRT_INVALID);
  CHECK_OK(nrt_sys_trace_fetch_options_allocate(&fetch));
  CHECK_STATUS(nrt_sys_trace_fetch_events(NULL, &size, fetch), NRT_INVALID);
  CHECK_STATUS(nrt_sys_trace_fetch_events(&events, NULL, fetch), NRT_INVALID);
  nrt_sys_trace_fetch_options_set_defaults(NULL);
  nrt_sys_trace_fetch_options_set_max_events_per_nc(NULL, 1);
  nrt_sys_trace_fetch_options_set_nc_idx(NULL, 1);
  nrt_sys_trace_fetch_options_free(fetch);
  nrt_sys_trace_fetch_options_free(NULL);
  nrt_sys_trace_buffer_free(NULL);
}

/* A profile is an empty file. */
static void profiles(const void* neff, size_t size) {
  char path[64];
  nrt_model_t* model = NULL;
  FILE* file;
  snprintf(path, sizeof path, "/tmp/nrt-misuse-%d.profile", (int)getpid());
  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  CHECK_STATUS(nrt_profile_start(NULL, path), NRT_INVALID);
  CHECK_STATUS(nrt_profile_start(model, NULL), NRT_INVALID);
  CHECK(nrt_profile_start(model, "/no/such/folder/profile") != NRT_SUCCESS);
  CHECK_STATUS(nrt_profile_stop(NULL), NRT_INVALID);
  CHECK_OK(nrt_profile_start(model, path));
  CHECK_OK(nrt_profile_stop(path));
  file = fopen(path, "rb");
  CHECK(file && fgetc(file) == EOF);
  if (file) fclose(file);
  remove(path);
  CHECK_OK(nrt_unload(model));
}

int main(int argc, char** argv) {
  size_t size;
  void* neff;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  devices();
  collectives_and_queues();
  links();
  options();
  profiles(neff, size);
  nrt_close();
  free(neff);
  return report("extras");
}
