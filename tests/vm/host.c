/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

#include "nds.h"

static enum nds_generation generation_of(unsigned int minor) {
  if (minor == 30) return NDS_GENERATION_2_30;
  return minor == 27 ? NDS_GENERATION_2_27 : NDS_GENERATION_2_24;
}

const struct host* host_of(const char* target) {
  unsigned int architecture;
  unsigned int mib = 0, minor = 24, clean = 0;
  struct nds_config config = {0};

  if (target[0] == '/') return host_of_node(target);
  if (sscanf(target, "sim:v%u,%u,%u,%u", &architecture, &mib, &minor, &clean) >= 1) {
    config.architecture = architecture;
    config.hbm_bytes = (uint64_t)mib << 20;
    config.generation = generation_of(minor);
    config.strictness = clean ? NDS_CLEAN : NDS_AS_MEASURED;
    return host_of_sim(&config);
  }
  fprintf(stderr, "%s is neither sim:vN[,MIB[,MINOR[,CLEAN]]] nor a device node's path\n", target);
  exit(2);
}
