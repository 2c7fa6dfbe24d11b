/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What a host may set about executions, and the memories it computes on. */
#include "nds_internal.h"

void nds_device_set_compute(struct nds_device* device, enum nds_compute_mode mode,
                            const struct nds_compute* compute) {
  nds_mutex_lock(&device->dma.lock);
  device->exec.mode = mode;
  if (compute)
    device->exec.compute = *compute;
  else
    memset(&device->exec.compute, 0, sizeof device->exec.compute);
  nds_mutex_unlock(&device->dma.lock);
}

struct nds_space* nds_device_core_space(const struct nds_device* device, uint32_t core,
                                        uint64_t* bytes) {
  if (core >= device->profile->cores) return NULL;
  *bytes = device->windows[core].bytes;
  return device->windows[core].space;
}
