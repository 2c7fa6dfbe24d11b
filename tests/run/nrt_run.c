/* SPDX-License-Identifier: MIT */
/* Runs a model through the C API as any program would: init, load, tensors, execute, read, unload.
 *   nrt-run FILE IN=OUT...
 * For each IN=OUT, on the same load: inputs from IN/NAME.npy, outputs to OUT/NAME.npy. The .npy
 * files are taken as they come: the header of an input is skipped, not understood. */
#include <string.h>

#include "../nrt/check.h"
#include "nrt/nrt_experimental.h"

struct io {
  nrt_tensor_info_array_t* info;
  nrt_tensor_t** tensors;
  nrt_tensor_set_t *inputs, *outputs;
};

static void make_tensors(struct io* io) {
  io->tensors = calloc(io->info->tensor_count, sizeof *io->tensors);
  CHECK_OK(nrt_allocate_tensor_set(&io->inputs));
  CHECK_OK(nrt_allocate_tensor_set(&io->outputs));
  for (uint64_t i = 0; i < io->info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &io->info->tensor_array[i];
    CHECK_OK(
        nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, one->size, one->name, &io->tensors[i]));
    CHECK_OK(nrt_add_tensor_to_tensor_set(
        one->usage == NRT_TENSOR_USAGE_INPUT ? io->inputs : io->outputs, one->name,
        io->tensors[i]));
  }
}

static void write_inputs(const struct io* io, const char* folder) {
  for (uint64_t i = 0; i < io->info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &io->info->tensor_array[i];
    char path[4096];
    size_t size, skip;
    unsigned char* bytes;
    if (one->usage != NRT_TENSOR_USAGE_INPUT) continue;
    snprintf(path, sizeof path, "%s/%s.npy", folder, one->name);
    bytes = read_whole_file(path, &size);
    skip = 10 + (size_t)(bytes[8] | bytes[9] << 8);
    CHECK(size == skip + one->size);
    if (size == skip + one->size) {
      CHECK_OK(nrt_tensor_write(io->tensors[i], bytes + skip, 0, one->size));
    }
    free(bytes);
  }
}

/* What no program leaves in an output by chance, so that a part nobody wrote is seen. */
static void spoil_outputs(const struct io* io) {
  for (uint64_t i = 0; i < io->info->tensor_count; ++i) {
    if (io->info->tensor_array[i].usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    CHECK_OK(nrt_tensor_memset(io->tensors[i], 0, 0xFF, io->info->tensor_array[i].size));
  }
}

static const char* npy_type(nrt_dtype_t dtype) {
  switch (dtype) {
    case NRT_DTYPE_FLOAT32:
      return "<f4";
    case NRT_DTYPE_FLOAT16:
      return "<f2";
    case NRT_DTYPE_BFLOAT16:
      return "<V2";
    default:
      return "|V1";
  }
}

static void write_npy(const char* folder, const nrt_tensor_info_t* one, const void* bytes) {
  char path[4096], head[128], *at = head + 10;
  FILE* file;
  memset(head, ' ', sizeof head);
  memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
  at +=
      snprintf(at, 100, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy_type(one->dtype));
  for (uint32_t d = 0; d < one->ndim; ++d) {
    at += snprintf(at, (size_t)(head + sizeof head - at), "%u,", (unsigned)one->shape[d]);
  }
  at += snprintf(at, (size_t)(head + sizeof head - at), "), }");
  CHECK(at < head + sizeof head);
  *at = ' ';
  head[sizeof head - 1] = '\n';
  snprintf(path, sizeof path, "%s/%s.npy", folder, one->name);
  file = fopen(path, "wb");
  CHECK(file != NULL);
  if (!file) return;
  CHECK(fwrite(head, 1, sizeof head, file) == sizeof head);
  CHECK(fwrite(bytes, 1, one->size, file) == one->size);
  CHECK(fclose(file) == 0);
}

static void read_outputs(const struct io* io, const char* folder) {
  for (uint64_t i = 0; i < io->info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &io->info->tensor_array[i];
    void* bytes;
    if (one->usage != NRT_TENSOR_USAGE_OUTPUT) continue;
    bytes = malloc(one->size);
    CHECK_OK(nrt_tensor_read(io->tensors[i], bytes, 0, one->size));
    write_npy(folder, one, bytes);
    free(bytes);
  }
}

int main(int argc, char** argv) {
  nrt_model_t* model = NULL;
  struct io io = {0};
  size_t size;
  void* neff;
  if (argc < 3) return 2;
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  free(neff);
  CHECK_OK(nrt_get_model_tensor_info(model, &io.info));
  if (failures) return report("nrt-run");
  make_tensors(&io);
  for (int i = 2; i < argc && !failures; ++i) {
    char* out = strchr(argv[i], '=');
    if (!out) return 2;
    *out++ = '\0';
    write_inputs(&io, argv[i]);
    spoil_outputs(&io);
    CHECK_OK(nrt_execute(model, io.inputs, io.outputs));
    if (!failures) read_outputs(&io, out);
  }
  CHECK_OK(nrt_unload(model));
  for (uint64_t i = 0; i < io.info->tensor_count; ++i) nrt_tensor_free(&io.tensors[i]);
  nrt_destroy_tensor_set(&io.inputs);
  nrt_destroy_tensor_set(&io.outputs);
  CHECK_OK(nrt_free_model_tensor_info(io.info));
  free(io.tensors);
  nrt_close();
  return report("nrt-run");
}
