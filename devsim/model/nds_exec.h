/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Executions: what runs when a core is asked to (spec 04 section 12, spec 10). */
#ifndef NDS_EXEC_H
#define NDS_EXEC_H

#include "nds.h"
#include "nds_os.h"

/* What the device needs to know about executions; under the DMA lock. */
struct nds_exec {
  enum nds_compute_mode mode;
  struct nds_compute compute;
  uint64_t skipped_compute;
};

#endif
