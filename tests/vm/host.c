/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

const struct host* host_of(const char* target) {
  unsigned int architecture;
  unsigned int mib = 0;

  if (target[0] == '/') return host_of_node(target);
  if (sscanf(target, "sim:v%u:%u", &architecture, &mib) >= 1)
    return host_of_sim(architecture, (uint64_t)mib << 20);
  fprintf(stderr, "%s is neither sim:vN, sim:vN:MIB nor the path of a device node\n", target);
  exit(2);
}
