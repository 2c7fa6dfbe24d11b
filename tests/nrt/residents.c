/* SPDX-License-Identifier: MIT */
/* Many models on one core take turns. residents COMPARE ROUNDS FILE FILE...: with COMPARE 1 the
 * outputs of a model are the same whoever ran before it. */
#include "model.h"

enum { most = 32 };

int main(int argc, char** argv) {
  static struct loaded all[most];
  nrt_vnc_memory_stats_t stats;
  size_t written = 0;
  int count = 0, compare, rounds;
  if (argc < 4) return 2;
  compare = atoi(argv[1]);
  rounds = atoi(argv[2]);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  for (int i = 3; i < argc && count < most; ++i, ++count) {
    size_t size;
    void* neff = read_whole_file(argv[i], &size);
    if (!load_whole(&all[count], neff, size, 0)) return 1;
    free(neff);
  }
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      struct loaded* it = &all[(i * (round + 1) + round) % count];
      CHECK_OK(execute_whole(it));
      if (compare) check_outputs(it);
    }
  }
  /* Half of them go, the others go on. */
  for (int i = 0; i < count; i += 2) unload_whole(&all[i]);
  for (int i = 1; i < count; i += 2) {
    CHECK_OK(execute_whole(&all[i]));
    if (compare) check_outputs(&all[i]);
  }
  for (int i = 1; i < count; i += 2) unload_whole(&all[i]);
  CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &written));
  CHECK(stats.bytes_used == 0);
  nrt_close();
  return report("residents");
}
