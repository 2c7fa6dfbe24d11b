/* SPDX-License-Identifier: MIT */
/* A loaded model with its tensors and sets, for programs that execute. */
#ifndef NEFFLD_TESTS_NRT_MODEL_H
#define NEFFLD_TESTS_NRT_MODEL_H

#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"

struct loaded {
  nrt_model_t* model;
  nrt_tensor_info_array_t* info;
  nrt_tensor_set_t* sets[2]; /* by nrt_tensor_usage_t */
  nrt_tensor_t** tensors;
  unsigned char** wanted; /* of outputs: what an execution left; NULL until remembered */
};

/* Loads a file on a core and gives it device tensors: inputs hold a pattern, outputs 0xEE. */
static inline int load_whole(struct loaded* it, const void* neff, size_t size, int32_t vnc) {
  nrt_model_info_t place = {0};
  size_t written = 0;
  memset(it, 0, sizeof *it);
  CHECK_OK(nrt_load(neff, size, vnc, -1, &it->model));
  if (!it->model) return 0;
  CHECK_OK(nrt_get_model_info(it->model, &place, sizeof place, &written));
  CHECK_OK(nrt_get_model_tensor_info(it->model, &it->info));
  CHECK_OK(nrt_allocate_tensor_set(&it->sets[0]));
  CHECK_OK(nrt_allocate_tensor_set(&it->sets[1]));
  it->tensors = calloc(it->info->tensor_count, sizeof *it->tensors);
  it->wanted = calloc(it->info->tensor_count, sizeof *it->wanted);
  for (uint64_t i = 0; i < it->info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &it->info->tensor_array[i];
    unsigned char* bytes = malloc(one->size);
    for (size_t k = 0; k < one->size; ++k) {
      bytes[k] = one->usage == NRT_TENSOR_USAGE_OUTPUT ? 0xEE : (unsigned char)(k * 7 + i);
    }
    CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, (int)place.vnc, one->size, one->name,
                                 &it->tensors[i]));
    CHECK_OK(nrt_tensor_write(it->tensors[i], bytes, 0, one->size));
    CHECK_OK(nrt_add_tensor_to_tensor_set(it->sets[one->usage], one->name, it->tensors[i]));
    free(bytes);
  }
  return 1;
}

static inline NRT_STATUS execute_whole(struct loaded* it) {
  return nrt_execute(it->model, it->sets[NRT_TENSOR_USAGE_INPUT],
                     it->sets[NRT_TENSOR_USAGE_OUTPUT]);
}

/* Remembers the outputs the first time and compares with them later; then fills them with 0xEE
 * again: a program need not write all of an output. */
static inline void check_outputs(struct loaded* it) {
  for (uint64_t i = 0; i < it->info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &it->info->tensor_array[i];
    unsigned char* bytes;
    if (one->usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    bytes = malloc(one->size);
    CHECK_OK(nrt_tensor_read(it->tensors[i], bytes, 0, one->size));
    if (!it->wanted[i]) {
      it->wanted[i] = bytes;
    } else {
      CHECK(memcmp(bytes, it->wanted[i], one->size) == 0);
      free(bytes);
    }
    CHECK_OK(nrt_tensor_memset(it->tensors[i], 0, 0xEE, one->size));
  }
}

static inline void unload_whole(struct loaded* it) {
  CHECK_OK(nrt_unload(it->model));
  for (uint64_t i = 0; i < it->info->tensor_count; ++i) {
    nrt_tensor_free(&it->tensors[i]);
    free(it->wanted[i]);
  }
  nrt_destroy_tensor_set(&it->sets[0]);
  nrt_destroy_tensor_set(&it->sets[1]);
  CHECK_OK(nrt_free_model_tensor_info(it->info));
  free(it->tensors);
  free(it->wanted);
}

#endif
