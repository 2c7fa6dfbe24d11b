/* SPDX-License-Identifier: MIT */
/* Takes cores and says so; with `hold` keeps them until its input ends. reserve [hold] */
#include <string.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  uint32_t visible = 0;
  char byte;
  const NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  if (status == NRT_SUCCESS) CHECK_OK(nrt_get_visible_vnc_count(&visible));
  printf("init %d visible %u\n", (int)status, visible);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "hold") == 0) {
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
  }
  nrt_close();
  return failures ? 1 : 0;
}
