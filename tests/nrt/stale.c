/* SPDX-License-Identifier: MIT */
/* Every function that takes a handle, with everything that is none: NULL, handles that ended,
 * handles of another kind, addresses, numbers. Each has the status of spec 07, and the outputs stay
 * as they were. stale FILE */
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"

static int sentinel;
static void* untouched = &sentinel;

static struct {
  nrt_model_t *model, *old_model;
  nrt_tensor_t *tensor, *old_tensor;
  nrt_tensor_set_t *set, *old_set;
} h;

/* Model functions: 2 for NULL, 3 for what is no loaded model. */
static void as_model(void* bad) {
  const NRT_STATUS expected = bad ? NRT_INVALID_HANDLE : NRT_INVALID;
  nrt_model_t* model = bad;
  nrt_tensor_info_array_t* info = untouched;
  nrt_model_info_t model_info = {77};
  uint32_t count = 77;
  size_t written = 77;
  CHECK_STATUS(nrt_unload(model), expected);
  CHECK_STATUS(nrt_get_model_nc_count(model, &count), expected);
  CHECK_STATUS(nrt_get_model_vnc_count(model, &count), expected);
  CHECK_STATUS(nrt_get_model_instance_count(model, &count), expected);
  CHECK_STATUS(nrt_get_model_info(model, &model_info, sizeof model_info, &written), expected);
  CHECK_STATUS(nrt_get_model_tensor_info(model, &info), expected);
  CHECK_STATUS(nrt_execute(model, h.set, h.set), expected);
  CHECK_STATUS(nrt_execute_repeat(model, h.set, h.set, 1), expected);
  CHECK_STATUS(nrt_profile_start(model, "/nowhere/x"), expected);
  CHECK(count == 77 && written == 77 && model_info.vnc == 77 && info == untouched);
}

static void as_tensor(void* bad) {
  nrt_tensor_t *tensor = bad, *made = untouched;
  nrt_tensor_device_allocation_info_t where = {.size = 77};
  nrt_tensor_batch_op_t op = {0, 4, &sentinel};
  nrt_tensor_batch_t batch = {tensor, &op, 1};
  char bytes[8] = "abcdefg";
  CHECK_STATUS(nrt_tensor_read(tensor, bytes, 0, 4), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_write(tensor, bytes, 0, 4), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_read_batch(&batch, 1, false), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_read_batch(&batch, 1, true), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_write_batch(&batch, 1, false), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_copy(tensor, 0, h.tensor, 0, 4), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_copy(h.tensor, 0, tensor, 0, 4), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_memset(tensor, 0, 1, 4), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_attach_buffer(tensor, bytes, sizeof bytes), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_allocate_slice(tensor, 0, 4, "s", &made), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_get_device_allocation_info(tensor, &where), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_check_output_completion(tensor, 0, 0), NRT_INVALID);
  CHECK_STATUS(nrt_tensor_reset_output_completion(tensor), NRT_INVALID);
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(h.set, "bad", tensor), NRT_INVALID);
  CHECK(nrt_tensor_get_size(tensor) == 0);
  CHECK(nrt_tensor_get_va(tensor) == NULL);
  CHECK(strcmp(bytes, "abcdefg") == 0 && where.size == 77 && sentinel == 0);
  nrt_tensor_free(&tensor); /* not of this kind: forgotten, nothing else happens */
  CHECK(tensor == NULL);
}

static void as_set(void* bad) {
  nrt_tensor_set_t* set = bad;
  nrt_tensor_t* found = untouched;
  CHECK_STATUS(nrt_add_tensor_to_tensor_set(set, "t", h.tensor), NRT_INVALID);
  CHECK_STATUS(nrt_get_tensor_from_tensor_set(set, "t", &found), NRT_INVALID);
  CHECK(found == untouched);
  CHECK_STATUS(nrt_execute(h.model, set, h.set), NRT_INVALID);
  CHECK_STATUS(nrt_execute(h.model, h.set, set), NRT_INVALID);
  nrt_destroy_tensor_set(&set);
  CHECK(set == NULL);
}

/* What lives is still there and works. */
static void check_live(void) {
  nrt_tensor_t* found = NULL;
  uint32_t count = 0;
  CHECK_OK(nrt_get_model_vnc_count(h.model, &count));
  CHECK(nrt_tensor_get_size(h.tensor) == 64);
  CHECK_OK(nrt_get_tensor_from_tensor_set(h.set, "t", &found));
  CHECK(found == h.tensor);
}

int main(int argc, char** argv) {
  size_t size;
  void* neff;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_load(neff, size, 0, -1, &h.old_model));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "o", &h.old_tensor));
  CHECK_OK(nrt_allocate_tensor_set(&h.old_set));
  CHECK_OK(nrt_unload(h.old_model));
  {
    nrt_tensor_t* tensor = h.old_tensor;
    nrt_tensor_set_t* set = h.old_set;
    nrt_tensor_free(&tensor);
    nrt_destroy_tensor_set(&set);
  }
  CHECK_OK(nrt_load(neff, size, 0, -1, &h.model));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "t", &h.tensor));
  CHECK_OK(nrt_allocate_tensor_set(&h.set));
  CHECK_OK(nrt_add_tensor_to_tensor_set(h.set, "t", h.tensor));
  {
    void* const never[] = {NULL,      h.old_model,         h.old_tensor,       h.old_set,
                           &sentinel, (void*)(uintptr_t)8, (void*)UINTPTR_MAX, neff};
    for (size_t i = 0; i < sizeof never / sizeof *never; ++i) {
      as_model(never[i]);
      as_tensor(never[i]);
      as_set(never[i]);
    }
    as_model(h.tensor);
    as_model(h.set);
    as_tensor(h.model);
    as_tensor(h.set);
    as_set(h.model);
    as_set(h.tensor);
  }
  check_live();
  nrt_close();
  free(neff);
  return report("stale");
}
