/* SPDX-License-Identifier: MIT */
/* A program that fails leaves the device usable. faults GOOD BAD STATUS: BAD ends with STATUS every
 * time, GOOD executes in between and leaves the same outputs. */
#include "model.h"

int main(int argc, char** argv) {
  struct loaded good, bad;
  size_t size;
  void* neff;
  NRT_STATUS status;
  if (argc < 4) return 2;
  status = (NRT_STATUS)atoi(argv[3]);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  neff = read_whole_file(argv[1], &size);
  if (!load_whole(&good, neff, size, 0)) return 1;
  free(neff);
  neff = read_whole_file(argv[2], &size);
  if (!load_whole(&bad, neff, size, 0)) return 1;
  free(neff);
  for (int round = 0; round < 3; ++round) {
    CHECK_OK(execute_whole(&good));
    check_outputs(&good);
    CHECK_STATUS(execute_whole(&bad), status);
    for (uint64_t i = 0; i < bad.info->tensor_count; ++i) {
      if (bad.info->tensor_array[i].usage != NRT_TENSOR_USAGE_OUTPUT) continue;
      CHECK_STATUS(nrt_tensor_check_output_completion(bad.tensors[i], 0, 1), NRT_TIMEOUT);
    }
  }
  unload_whole(&bad);
  CHECK_OK(execute_whole(&good));
  check_outputs(&good);
  unload_whole(&good);
  nrt_close();
  return report("faults");
}
