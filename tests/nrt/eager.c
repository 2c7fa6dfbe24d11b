/* SPDX-License-Identifier: MIT */
/* The Rust client: resolves all it needs at start-up, at once, from the file name clients look for,
 * and works through the pointers alone: no symbol of the library is linked. eager LIBRARY [FILE
 * [EXECUTE-STATUS]] */
#include <dlfcn.h>
#include <string.h>

#include "check.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_status.h"
#include "nrt/nrt_version.h"

/* clang-format off */
#define WANTED(use) \
  use(init) use(close) use(get_version) use(get_status_as_str) use(get_total_vnc_count) \
  use(get_total_nc_count) use(get_visible_vnc_count) use(get_visible_nc_count) use(load) \
  use(unload) use(get_model_tensor_info) use(free_model_tensor_info) use(allocate_tensor_set) \
  use(destroy_tensor_set) use(add_tensor_to_tensor_set) use(execute) use(tensor_allocate) \
  use(tensor_free) use(tensor_read) use(tensor_write) use(tensor_get_size)
/* clang-format on */

static struct {
#define MEMBER(name) __typeof__(nrt_##name)* name;
  WANTED(MEMBER)
} client;

static int resolve(const char* path) {
  int missing = 0;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
#define RESOLVE(name)                                                               \
  *(void**)(&client.name) = dlsym(library, "nrt_" #name); /* the way POSIX shows */ \
  if (!client.name) {                                                               \
    fprintf(stderr, "missing: nrt_" #name "\n");                                    \
    ++missing;                                                                      \
  }
  WANTED(RESOLVE)
  return missing ? 1 : 0;
}

/* Every tensor of the model in the set of its usage, filled with a pattern, read back. */
static void use_tensors(nrt_model_t* model, const nrt_tensor_info_array_t* info,
                        NRT_STATUS execute_status) {
  nrt_tensor_set_t* sets[2] = {NULL, NULL};
  nrt_tensor_t** tensors = calloc(info->tensor_count, sizeof *tensors);
  CHECK(client.allocate_tensor_set(&sets[0]) == 0 && client.allocate_tensor_set(&sets[1]) == 0);
  for (uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* one = &info->tensor_array[i];
    unsigned char *bytes = malloc(one->size), *back = malloc(one->size);
    CHECK(client.tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, one->size, NULL, &tensors[i]) ==
          0);
    CHECK(client.tensor_get_size(tensors[i]) == one->size);
    memset(bytes, (int)i + 1, one->size);
    CHECK(client.tensor_write(tensors[i], bytes, 0, one->size) == 0);
    CHECK(client.tensor_read(tensors[i], back, 0, one->size) == 0);
    CHECK(memcmp(bytes, back, one->size) == 0);
    CHECK(client.add_tensor_to_tensor_set(sets[one->usage], one->name, tensors[i]) == 0);
    free(bytes);
    free(back);
  }
  CHECK(client.execute(model, sets[0], sets[1]) == execute_status);
  client.destroy_tensor_set(&sets[0]);
  client.destroy_tensor_set(&sets[1]);
  for (uint64_t i = 0; i < info->tensor_count; ++i) client.tensor_free(&tensors[i]);
  free(tensors);
}

int main(int argc, char** argv) {
  nrt_version_t version;
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  uint32_t total = 0, visible = 0;
  size_t size;
  void* neff;
  int missing = resolve(argc > 1 ? argv[1] : "libnrt.so.1");
  if (missing || argc < 3) return missing;

  neff = read_whole_file(argv[2], &size);
  CHECK(sizeof version == 224 && client.get_version(&version, sizeof version) == 0);
  CHECK(client.init(NRT_FRAMEWORK_TYPE_NO_FW, NULL, NULL) == 0);
  CHECK(client.get_total_vnc_count(&total) == 0 && client.get_visible_vnc_count(&visible) == 0);
  CHECK(total > 0 && visible > 0 && visible <= total);
  CHECK(client.load(neff, size, 0, 1, &model) == 0);
  free(neff);
  if (model && client.get_model_tensor_info(model, &info) == 0) {
    use_tensors(model, info, argc > 3 ? (NRT_STATUS)atoi(argv[3]) : NRT_SUCCESS);
    client.free_model_tensor_info(info);
  }
  CHECK(model && info);
  CHECK(client.unload(model) == 0);
  client.close();
  return report("eager");
}
