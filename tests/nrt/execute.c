/* SPDX-License-Identifier: MIT */
/* What execution checks before it runs anything. execute FILE STATUS: a complete and right call
 * must end with STATUS. */
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"

static nrt_tensor_info_array_t* info;

static nrt_tensor_t* make(const nrt_tensor_info_t* one, int vnc, size_t extra) {
  nrt_tensor_t* tensor = NULL;
  CHECK_OK(nrt_tensor_allocate(vnc < 0 ? NRT_TENSOR_PLACEMENT_HOST : NRT_TENSOR_PLACEMENT_DEVICE,
                               vnc, one->size + extra, one->name, &tensor));
  return tensor;
}

static nrt_tensor_set_t* make_set(nrt_tensor_usage_t usage, nrt_tensor_t** all, int vnc,
                                  size_t extra) {
  nrt_tensor_set_t* set = NULL;
  CHECK_OK(nrt_allocate_tensor_set(&set));
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    if (info->tensor_array[i].usage != usage) continue;
    all[i] = make(&info->tensor_array[i], vnc, extra);
    CHECK_OK(nrt_add_tensor_to_tensor_set(set, info->tensor_array[i].name, all[i]));
  }
  return set;
}

/* Executes with sets made so, and takes them down again. */
static NRT_STATUS execute_with(nrt_model_t* model, int vnc, size_t extra) {
  nrt_tensor_t** all = calloc(info->tensor_count, sizeof *all);
  nrt_tensor_set_t* inputs = make_set(NRT_TENSOR_USAGE_INPUT, all, vnc, extra);
  nrt_tensor_set_t* outputs = make_set(NRT_TENSOR_USAGE_OUTPUT, all, vnc, 0);
  const NRT_STATUS status = nrt_execute(model, inputs, outputs);
  for (uint64_t i = 0; i < info->tensor_count; ++i) nrt_tensor_free(&all[i]);
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  free(all);
  return status;
}

int main(int argc, char** argv) {
  nrt_model_t* model = NULL;
  nrt_tensor_t **all, *freed;
  nrt_tensor_set_t *inputs, *outputs, *empty = NULL;
  NRT_STATUS complete;
  uint32_t cores = 0;
  size_t size;
  void* neff;
  if (argc < 3) return 2;
  complete = (NRT_STATUS)atoi(argv[2]);
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  free(neff);
  CHECK_OK(nrt_get_model_tensor_info(model, &info));
  if (failures) return 1;

  CHECK_STATUS(execute_with(model, 0, 0), complete);
  CHECK_STATUS(execute_with(model, -1, 0), complete);
  CHECK_STATUS(execute_with(model, 0, 8), NRT_INVALID);
  if (cores > 1) CHECK_STATUS(execute_with(model, (int)cores - 1, 0), NRT_INVALID);

  all = calloc(info->tensor_count, sizeof *all);
  inputs = make_set(NRT_TENSOR_USAGE_INPUT, all, 0, 0);
  outputs = make_set(NRT_TENSOR_USAGE_OUTPUT, all, 0, 0);
  CHECK_OK(nrt_allocate_tensor_set(&empty));
  CHECK_STATUS(nrt_execute(model, empty, outputs), NRT_INVALID);
  CHECK_STATUS(nrt_execute(model, inputs, empty), NRT_INVALID);
  CHECK_STATUS(nrt_execute(model, NULL, outputs), NRT_INVALID);
  CHECK_STATUS(nrt_execute(model, inputs, NULL), NRT_INVALID);
  CHECK_STATUS(nrt_execute_repeat(model, inputs, outputs, 2), NRT_INVALID);
  CHECK_STATUS(nrt_execute_repeat(model, inputs, outputs, 1), complete);
  /* A set does not keep its tensors alive. */
  freed = all[0];
  nrt_tensor_free(&freed);
  CHECK_STATUS(nrt_execute(model, inputs, outputs), NRT_INVALID);
  CHECK_OK(nrt_unload(model));
  CHECK_STATUS(nrt_execute(model, inputs, outputs), NRT_INVALID_HANDLE);
  CHECK_OK(nrt_free_model_tensor_info(info));
  nrt_close();
  free(all);
  return report("execute");
}
