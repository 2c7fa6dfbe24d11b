/* SPDX-License-Identifier: MIT */
/* The call sequence of the vendor's developer guide: init, load, tensor info, tensors, sets,
 * execute, read, unload, close. guide FILE [EXECUTE-STATUS] */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "nrt/nrt_experimental.h"

static nrt_tensor_set_t* make_set(const nrt_tensor_info_array_t* info, nrt_tensor_usage_t usage,
                                  nrt_tensor_t** tensors) {
  nrt_tensor_set_t* set = NULL;
  CHECK_OK(nrt_allocate_tensor_set(&set));
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &info->tensor_array[i];
    nrt_tensor_t* back = NULL;
    void* bytes;
    if (one->usage != usage) continue;
    CHECK_OK(
        nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, one->size, one->name, &tensors[i]));
    CHECK(nrt_tensor_get_size(tensors[i]) == one->size);
    bytes = calloc(1, one->size);
    CHECK_OK(nrt_tensor_write(tensors[i], bytes, 0, one->size));
    free(bytes);
    CHECK_OK(nrt_add_tensor_to_tensor_set(set, one->name, tensors[i]));
    CHECK_OK(nrt_get_tensor_from_tensor_set(set, one->name, &back));
    CHECK(back == tensors[i]);
  }
  return set;
}

static void check_info(const nrt_tensor_info_array_t* info) {
  CHECK(info->tensor_count > 0);
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &info->tensor_array[i];
    uint64_t elements = 1;
    CHECK(strlen(one->name) > 0 && strlen(one->name) < NRT_TENSOR_NAME_MAX);
    CHECK(one->ndim <= 32);
    for (uint32_t d = 0; d < one->ndim; ++d) elements *= one->shape[d];
    CHECK(elements > 0 && one->size % elements == 0);
    printf("%s %s dtype %d size %zu ndim %u\n", one->usage ? "output" : "input", one->name,
           (int)one->dtype, one->size, one->ndim);
    if (i == 0) continue;
    CHECK(info->tensor_array[i - 1].usage <= one->usage);
    if (info->tensor_array[i - 1].usage == one->usage) {
      CHECK(strcmp(info->tensor_array[i - 1].name, one->name) < 0);
    }
  }
}

int main(int argc, char** argv) {
  const NRT_STATUS execute_status = argc > 2 ? (NRT_STATUS)atoi(argv[2]) : NRT_SUCCESS;
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_set_t *inputs, *outputs;
  nrt_tensor_t** tensors;
  struct stat file;
  void* neff;
  int fd;

  if (argc < 2) return 2;
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  fd = open(argv[1], O_RDONLY);
  if (fd < 0 || fstat(fd, &file) != 0) return 2;
  neff = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (neff == MAP_FAILED) return 2;
  CHECK_OK(nrt_load(neff, (size_t)file.st_size, -1, -1, &model));
  if (!model) return report("guide");
  munmap(neff, (size_t)file.st_size);
  close(fd);

  CHECK_OK(nrt_get_model_tensor_info(model, &info));
  if (!info) return report("guide");
  check_info(info);
  tensors = calloc(info->tensor_count, sizeof *tensors);
  inputs = make_set(info, NRT_TENSOR_USAGE_INPUT, tensors);
  outputs = make_set(info, NRT_TENSOR_USAGE_OUTPUT, tensors);

  CHECK_STATUS(nrt_execute(model, inputs, outputs), execute_status);
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    void* bytes = malloc(info->tensor_array[i].size);
    CHECK_OK(nrt_tensor_read(tensors[i], bytes, 0, info->tensor_array[i].size));
    free(bytes);
  }

  CHECK_OK(nrt_unload(model));
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    nrt_tensor_free(&tensors[i]);
    CHECK(tensors[i] == NULL);
  }
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  CHECK(inputs == NULL && outputs == NULL);
  CHECK_OK(nrt_free_model_tensor_info(info));
  free(tensors);
  nrt_close();
  return report("guide");
}
