/* SPDX-License-Identifier: MIT */
/* Resolves what the Rust client resolves when it starts, all at once, from the file name clients
 * look for. symbols LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

static const char* const wanted[] = {
    "nrt_init",
    "nrt_close",
    "nrt_get_version",
    "nrt_get_status_as_str",
    "nrt_get_total_vnc_count",
    "nrt_get_total_nc_count",
    "nrt_get_visible_vnc_count",
    "nrt_get_visible_nc_count",
    "nrt_load",
    "nrt_unload",
    "nrt_get_model_tensor_info",
    "nrt_free_model_tensor_info",
    "nrt_allocate_tensor_set",
    "nrt_destroy_tensor_set",
    "nrt_add_tensor_to_tensor_set",
    "nrt_execute",
    "nrt_tensor_allocate",
    "nrt_tensor_free",
    "nrt_tensor_read",
    "nrt_tensor_write",
    "nrt_tensor_get_size",
};

int main(int argc, char** argv) {
  int missing = 0;
  void* library = dlopen(argc > 1 ? argv[1] : "libnrt.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    if (dlsym(library, wanted[i])) continue;
    fprintf(stderr, "missing: %s\n", wanted[i]);
    ++missing;
  }
  return missing ? 1 : 0;
}
