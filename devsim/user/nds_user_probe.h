/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Which user addresses may be touched. */
#ifndef NDS_USER_PROBE_H
#define NDS_USER_PROBE_H

#include "neuron_abi/types.h"

/*
 * How many of `bytes` bytes from `user` on can be read (written) without a fault, counted up to the
 * first bad page. Between the answer and the copy another thread may still unmap the memory; such a
 * program is broken with the real driver too.
 */
uint64_t nds_user_readable(uint64_t user, uint64_t bytes);
uint64_t nds_user_writable(uint64_t user, uint64_t bytes);

#endif
