/* SPDX-License-Identifier: MIT */
/* Loads a file as one rank of several and executes it. collectives FILE ID COUNT LOAD-STATUS
 * [EXECUTE-STATUS] */
#include "model.h"

int main(int argc, char** argv) {
  struct loaded it = {0};
  nrt_model_t* model = (nrt_model_t*)&failures;
  NRT_STATUS expected;
  size_t size;
  void* neff;
  if (argc < 5) return 2;
  expected = (NRT_STATUS)atoi(argv[4]);
  neff = read_whole_file(argv[1], &size);
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  CHECK_STATUS(nrt_load_collectives(neff, size, 0, -1, (uint32_t)strtoul(argv[2], NULL, 0),
                                    (uint32_t)strtoul(argv[3], NULL, 0), &model),
               expected);
  CHECK((model != NULL) == (expected == NRT_SUCCESS));
  if (model && argc > 5 && load_whole(&it, neff, size, 0)) {
    /* Tensors of the same file loaded for one rank fit. */
    nrt_model_t* const own = it.model;
    it.model = model;
    CHECK_STATUS(execute_whole(&it), (NRT_STATUS)atoi(argv[5]));
    it.model = own;
    unload_whole(&it);
  }
  if (model) CHECK_OK(nrt_unload(model));
  nrt_close();
  free(neff);
  return report("collectives");
}
