/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Filling of a whole HBM (spec 06 section 4.6). It overwrites live allocations too. */
#include "nds_internal.h"

#define PIECE 0x100000u

static int fill_pattern(struct nds_hbm* hbm, uint64_t offset, uint32_t pattern) {
  uint8_t* piece = nds_os_alloc(PIECE);
  uint32_t index;
  int error = 0;

  if (!piece) return -ENOMEM;
  for (index = 0; index < PIECE; index += sizeof pattern)
    memcpy(piece + index, &pattern, sizeof pattern);
  for (; !error && offset < hbm->bytes; offset += PIECE) {
    uint64_t rest = hbm->bytes - offset;

    error = nds_os_space_write(hbm->space, offset, piece, rest < PIECE ? (size_t)rest : PIECE);
  }
  nds_os_free(piece);
  return error;
}

static bool is_one_byte(uint32_t pattern) {
  return pattern == (pattern & 0xFF) * 0x01010101u;
}

long nds_hbm_scrub_start(struct nds_call* call) {
  struct neuron_hbm_scrub_start argument;
  struct nds_hbm* hbm;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.hbm_index >= call->device->profile->hbm_count) return -EPERM;
  hbm = &call->device->hbm[argument.hbm_index];
  if (is_one_byte(argument.init_val))
    return nds_os_space_fill(hbm->space, NEURON_HBM_CARVEOUT_SIZE, (uint8_t)argument.init_val,
                             hbm->bytes - NEURON_HBM_CARVEOUT_SIZE);
  return fill_pattern(hbm, NEURON_HBM_CARVEOUT_SIZE, argument.init_val);
}

/* Scrubbing is done when START returns. */
long nds_hbm_scrub_wait(struct nds_call* call) {
  struct neuron_hbm_scrub_wait argument;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  return argument.hbm_index < call->device->profile->hbm_count ? 0 : -EPERM;
}
