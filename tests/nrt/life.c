/* SPDX-License-Identifier: MIT */
/* The state machine: before init, after close, again, in a forked child. life FILE */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "nrt/nec.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"

/* Everything that is gated answers 13 outside init and close. */
static void check_uninitialized(void) {
  nrt_model_t* model = NULL;
  nrt_tensor_t* tensor = NULL;
  nrt_tensor_set_t* set = NULL;
  nrt_vnc_memory_stats_t stats;
  uint32_t number = 0;
  size_t size = 0;
  CHECK_STATUS(nrt_load("", 0, -1, -1, &model), NRT_UNINITIALIZED);
  CHECK_STATUS(nrt_unload(NULL), NRT_UNINITIALIZED);
  CHECK_STATUS(nrt_allocate_tensor_set(&set), NRT_UNINITIALIZED);
  CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NULL, &tensor),
               NRT_UNINITIALIZED);
  CHECK_STATUS(nrt_execute(NULL, NULL, NULL), NRT_UNINITIALIZED);
  CHECK_STATUS(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &size), NRT_UNINITIALIZED);
  CHECK_STATUS(nec_get_virtual_core_size(&number), NRT_UNINITIALIZED);
  CHECK_STATUS(nrta_is_completed(0, NULL), NRT_UNINITIALIZED);
  CHECK(nrt_tensor_get_va(NULL) == NULL);
  CHECK(tensor == NULL && set == NULL && model == NULL);
}

/* These work in every state. */
static void check_questions(void) {
  nrt_version_t version;
  nrt_instance_info_t instance;
  uint32_t total = 0, visible = 0;
  memset(&version, 0xFF, sizeof version);
  CHECK_OK(nrt_get_version(&version, sizeof version));
  CHECK(version.rt_major == 2 && version.rt_minor == 31);
  CHECK(strncmp(version.rt_detail, "libnrt version 2.31.", 20) == 0);
  CHECK(strlen(version.git_hash) == 40);
  memset(&version, 0xFF, sizeof version);
  CHECK_OK(nrt_get_version(&version, 160));
  CHECK(version.git_hash[0] == (char)0xFF);
  CHECK_STATUS(nrt_get_version(&version, 159), NRT_FAILURE);
  CHECK_STATUS(nrt_get_version(NULL, 224), NRT_INVALID);
  CHECK_OK(nrt_get_instance_info(&instance, sizeof instance));
  CHECK(strncmp(instance.arch_name, "NCv", 3) == 0);
  CHECK_OK(nrt_get_total_vnc_count(&total));
  CHECK_OK(nrt_get_visible_vnc_count(&visible));
  CHECK(total > 0 && visible > 0 && visible <= total);
  CHECK_STATUS(nrt_get_total_nc_count(NULL), NRT_INVALID);
  CHECK(strcmp(nrt_get_status_as_str(NRT_CLOSED), "NRT_CLOSED") == 0);
  CHECK(strcmp(nrt_get_status_as_str((NRT_STATUS)8), "UNKNOWN") == 0);
  CHECK(nrt_tensor_get_size(NULL) == 0);
}

static void check_child(nrt_tensor_t* tensor, uint32_t cores) {
  const pid_t child = fork();
  int status = -1;
  if (child == 0) {
    nrt_tensor_t *copy = tensor, *made = NULL;
    uint32_t visible = 0;
    failures = 0;
    CHECK_STATUS(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 8, NULL, &made), NRT_FAILURE);
    CHECK_STATUS(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_FAILURE);
    CHECK_OK(nrt_get_visible_vnc_count(&visible));
    CHECK(visible == cores);
    nrt_tensor_free(&copy);
    CHECK(copy == NULL);
    nrt_close();
    _exit(failures ? 1 : 0);
  }
  CHECK(child > 0);
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char** argv) {
  nrt_tensor_t *tensor = NULL, *host = NULL;
  nrt_model_t* model = NULL;
  uint32_t cores = 0;
  size_t size;
  void* neff;
  if (argc < 2) return 2;
  neff = read_whole_file(argv[1], &size);

  check_uninitialized();
  check_questions();
  nrt_close();

  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_PYTORCH, NULL, NULL));
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_PYTORCH, NULL, NULL));
  check_questions();
  CHECK_OK(nrt_get_visible_vnc_count(&cores));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "kept", &tensor));
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, 16, "host", &host));
  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  check_child(tensor, cores);
  CHECK_OK(nrt_tensor_memset(tensor, 0, 1, 4096));
  nrt_close();

  check_uninitialized();
  check_questions();
  CHECK_STATUS(nrt_unload(model), NRT_UNINITIALIZED);
  CHECK(nrt_tensor_get_size(tensor) == 4096);

  /* What lived through a close is known to be dead, and can be freed. */
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_STATUS(nrt_unload(model), NRT_INVALID_HANDLE);
  CHECK_STATUS(nrt_tensor_memset(tensor, 0, 1, 1), NRT_INVALID);
  CHECK_OK(nrt_tensor_memset(host, 0, 1, 16));
  nrt_tensor_free(&tensor);
  CHECK_OK(nrt_load(neff, size, 0, -1, &model));
  nrt_close();
  nrt_tensor_free(&host);
  nrt_close();
  free(neff);
  return report("life");
}
