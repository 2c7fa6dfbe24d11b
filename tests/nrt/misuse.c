/* SPDX-License-Identifier: MIT */
/* NULL, stale and foreign handles, bounds, and files that are none: the status each gets, and that
 * nothing crashes. misuse FILE */
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"

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
  memcpy(copy + 8, &size, sizeof size); /* header_size */
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_INVALID);
  memcpy(copy, neff, size);
  copy[0] = 7; /* packager */
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_UNSUPPORTED_NEFF_VERSION);
  memcpy(copy, neff, size);
  copy[24] = 3; /* major version */
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_UNSUPPORTED_NEFF_VERSION);
  memcpy(copy, neff, size);
  memset(copy + 1024, 0x5A, size - 1024);
  CHECK_STATUS(nrt_load(copy, size, 0, -1, &model), NRT_INVALID);
  free(copy);
  check_device_is_empty();

  for (int32_t vnc_count = -1; vnc_count <= 2; ++vnc_count) {
    CHECK_OK(nrt_load(neff, size, 0, vnc_count, &model));
    CHECK_OK(nrt_unload(model));
  }
  CHECK_STATUS(nrt_load_collectives(neff, size, 0, 3, 0, 1, &model), NRT_INVALID);
  CHECK_STATUS(nrt_load_collectives(neff, size, 0, -1, 0, 1, NULL), NRT_INVALID);
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

/* -1 is the least used core, the lowest of several. */
static void free_cores(const void* neff, size_t size) {
  enum { most = 64 };
  nrt_model_t* models[2 * most];
  nrt_model_info_t info;
  uint32_t cores = 0, round = 0;
  size_t written = 0;
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  CHECK(cores > 0 && cores <= most);
  for (; round < 2 * cores; ++round) {
    CHECK_OK(nrt_load(neff, size, -1, -1, &models[round]));
    CHECK_OK(nrt_get_model_info(models[round], &info, sizeof info, &written));
    CHECK(info.vnc == round % cores);
  }
  /* The core that is given back is the next one. */
  CHECK_OK(nrt_unload(models[cores - 1]));
  CHECK_OK(nrt_load(neff, size, -1, -1, &models[cores - 1]));
  CHECK_OK(nrt_get_model_info(models[cores - 1], &info, sizeof info, &written));
  CHECK(info.vnc == cores - 1);
  while (round > 0) CHECK_OK(nrt_unload(models[--round]));
}

/* The first and the last core have different banks. */
static void two_banks(void) {
  nrt_tensor_t *near = NULL, *far = NULL;
  uint32_t cores = 0;
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 16, "near", &near));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, (int)cores - 1, 16, "far", &far));
  if (cores > 1) CHECK_STATUS(nrt_tensor_copy(near, 0, far, 0, 16), NRT_INVALID);
  nrt_tensor_free(&near);
  nrt_tensor_free(&far);
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
  nrt_tensor_t *tensor = NULL, *found = NULL, *other = NULL;
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
  CHECK_STATUS(nrt_get_tensor_from_tensor_set(set, NULL, &found), NRT_INVALID);
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, "b", &other));
  CHECK_OK(nrt_add_tensor_to_tensor_set(set, "a", other)); /* takes its place */
  CHECK_OK(nrt_get_tensor_from_tensor_set(set, "a", &found));
  CHECK(found == other);
  nrt_tensor_free(&other);
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

int main(int argc, char** argv) {
  size_t size;
  void* neff;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  models(neff, size);
  free_cores(neff, size);
  check_device_is_empty();
  two_banks();
  tensors();
  check_device_is_empty();
  sets();
  nrt_close();
  free(neff);
  return report("misuse");
}
