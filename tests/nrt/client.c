/* SPDX-License-Identifier: MIT */
/* The call order of the Python client: counts before init, vnc_count 1, the NEFF freed at once,
 * slices, closing with everything alive, several rounds in one process. client FILE */
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_sys_trace.h"

static void trace_once(void) {
  nrt_sys_trace_config_t* config = NULL;
  char* events = NULL;
  size_t size = 0;
  CHECK_OK(nrt_sys_trace_config_allocate(&config));
  nrt_sys_trace_config_set_defaults(config);
  nrt_sys_trace_config_set_capture_enabled_for_nc(config, 0, true);
  CHECK_OK(
      nrt_sys_trace_config_set_capture_enabled_for_event_type(config, "nc_exec_running", true));
  CHECK_OK(nrt_sys_trace_start(config));
  nrt_sys_trace_config_free(config);
  CHECK_OK(nrt_sys_trace_fetch_events(&events, &size, NULL));
  CHECK(events && strlen(events) == size && strncmp(events, "{\"events\":[", 11) == 0);
  nrt_sys_trace_buffer_free(events);
  CHECK_OK(nrt_sys_trace_stop());
}

static void round_trip(const char* path) {
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_t *tensor = NULL, *slice = NULL;
  nrt_tensor_set_t* set = NULL;
  uint32_t cores = 0;
  unsigned char bytes[64], back[32];
  size_t size;
  void* neff;

  CHECK_OK(nrt_get_visible_nc_count(&cores));
  CHECK(cores > 0);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "spike", "1.0"));
  neff = read_whole_file(path, &size);
  CHECK_OK(nrt_load(neff, size, (int32_t)cores - 1, 1, &model));
  memset(neff, 0xAA, size);
  free(neff);
  CHECK_OK(nrt_get_model_tensor_info(model, &info));
  for (uint64_t i = 0; info && i < info->tensor_count; ++i) {
    CHECK(info->tensor_array[i].ndim <= 64);
  }
  CHECK_OK(nrt_free_model_tensor_info(info));

  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, (int)cores - 1, 64, "t", &tensor));
  CHECK_OK(nrt_tensor_allocate_slice(tensor, 32, 32, "s", &slice));
  for (int i = 0; i < 64; ++i) bytes[i] = (unsigned char)i;
  CHECK_OK(nrt_tensor_write(tensor, bytes, 0, 64));
  CHECK_OK(nrt_tensor_read(slice, back, 0, 32));
  CHECK(memcmp(back, bytes + 32, 32) == 0);
  CHECK_OK(nrt_allocate_tensor_set(&set));
  CHECK_OK(nrt_add_tensor_to_tensor_set(set, "s", slice));
  nrt_destroy_tensor_set(&set);
  trace_once();
  /* Model, tensor and slice stay alive: closing takes care of them. */
  nrt_close();
  CHECK_STATUS(nrt_tensor_read(slice, back, 0, 32), NRT_UNINITIALIZED);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  for (int i = 0; i < 3; ++i) round_trip(argv[1]);
  return report("client");
}
