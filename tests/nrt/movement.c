/* SPDX-License-Identifier: MIT */
/* Executes a model on given bytes. movement FILE FOLDER PLACEMENT EXECUTIONS: tensor number i of
 * the model's list starts with the bytes of FOLDER/i.in; the outputs end up in FOLDER/i.out.
 * PLACEMENT is device, host, mixed or slice. */
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"

static const char* folder;
static const char* placement;

static nrt_tensor_t* make(const nrt_tensor_info_t* one, uint64_t number) {
  nrt_tensor_t *tensor = NULL, *whole = NULL;
  const int host =
      strcmp(placement, "host") == 0 || (strcmp(placement, "mixed") == 0 && number % 2);
  if (strcmp(placement, "slice") == 0) {
    /* In the middle of a larger tensor, which goes first. */
    CHECK_OK(
        nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, one->size + 4096, "whole", &whole));
    CHECK_OK(nrt_tensor_memset(whole, 0, 0x5A, one->size + 4096));
    CHECK_OK(nrt_tensor_allocate_slice(whole, 64 * (number + 1), one->size, one->name, &tensor));
    nrt_tensor_free(&whole);
    return tensor;
  }
  CHECK_OK(nrt_tensor_allocate(host ? NRT_TENSOR_PLACEMENT_HOST : NRT_TENSOR_PLACEMENT_DEVICE, 0,
                               one->size, one->name, &tensor));
  return tensor;
}

static void fill(nrt_tensor_t* tensor, uint64_t number, size_t expected) {
  char path[4096];
  size_t size = 0;
  void* bytes;
  snprintf(path, sizeof path, "%s/%llu.in", folder, (unsigned long long)number);
  bytes = read_whole_file(path, &size);
  CHECK(size == expected);
  CHECK_OK(nrt_tensor_write(tensor, bytes, 0, size));
  free(bytes);
}

static void save(nrt_tensor_t* tensor, uint64_t number, size_t size) {
  char path[4096];
  void* bytes = malloc(size);
  FILE* file;
  snprintf(path, sizeof path, "%s/%llu.out", folder, (unsigned long long)number);
  CHECK_OK(nrt_tensor_read(tensor, bytes, 0, size));
  file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
  free(bytes);
}

int main(int argc, char** argv) {
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_set_t* sets[2] = {NULL, NULL};
  nrt_tensor_t** tensors;
  size_t size;
  void* neff;
  int executions;
  if (argc < 5) return 2;
  folder = argv[2];
  placement = argv[3];
  executions = atoi(argv[4]);
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  free(neff);
  if (failures) return 1;
  CHECK_OK(nrt_get_model_tensor_info(model, &info));
  CHECK_OK(nrt_allocate_tensor_set(&sets[NRT_TENSOR_USAGE_INPUT]));
  CHECK_OK(nrt_allocate_tensor_set(&sets[NRT_TENSOR_USAGE_OUTPUT]));
  tensors = calloc(info->tensor_count, sizeof *tensors);
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &info->tensor_array[i];
    tensors[i] = make(one, i);
    fill(tensors[i], i, one->size);
    CHECK_OK(nrt_add_tensor_to_tensor_set(sets[one->usage], one->name, tensors[i]));
  }
  for (int i = 0; i < executions; ++i) {
    CHECK_OK(nrt_execute(model, sets[NRT_TENSOR_USAGE_INPUT], sets[NRT_TENSOR_USAGE_OUTPUT]));
  }
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &info->tensor_array[i];
    if (one->usage == NRT_TENSOR_USAGE_OUTPUT && failures == 0) {
      CHECK_OK(nrt_tensor_check_output_completion(tensors[i], 0, (uint64_t)executions));
      CHECK_STATUS(nrt_tensor_check_output_completion(tensors[i], 0, (uint64_t)executions + 1),
                   NRT_TIMEOUT);
      CHECK_OK(nrt_tensor_reset_output_completion(tensors[i]));
      CHECK_STATUS(nrt_tensor_check_output_completion(tensors[i], 0, 1), NRT_TIMEOUT);
      save(tensors[i], i, one->size);
    }
    nrt_tensor_free(&tensors[i]);
  }
  CHECK_OK(nrt_unload(model));
  nrt_destroy_tensor_set(&sets[0]);
  nrt_destroy_tensor_set(&sets[1]);
  CHECK_OK(nrt_free_model_tensor_info(info));
  free(tensors);
  nrt_close();
  return report("movement");
}
