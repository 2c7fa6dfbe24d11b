/* SPDX-License-Identifier: MIT */
/* Loads and unloads a file many times: device memory returns to nothing each time, and the process
 * does not grow. loop FILE COUNT */
#include <string.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  nrt_vnc_memory_stats_t stats;
  size_t size, written = 0, before = 0, after;
  int count;
  void* neff;
  if (argc < 3) return 2;
  neff = read_whole_file(argv[1], &size);
  count = atoi(argv[2]);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  for (int i = 0; i < count && failures == 0; ++i) {
    nrt_model_t* model = NULL;
    CHECK_OK(nrt_load(neff, size, 0, -1, &model));
    CHECK_OK(nrt_unload(model));
    CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &written));
    CHECK(stats.bytes_used == 0);
    if (i == count / 5) before = resident_bytes();
  }
  after = resident_bytes();
  printf("resident after %d: %zu KiB, after %d: %zu KiB\n", count / 5, before >> 10, count,
         after >> 10);
  CHECK(after < before + ((size_t)4 << 20));
  nrt_close();
  free(neff);
  return report("loop");
}
