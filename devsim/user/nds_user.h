/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What the in-process host adds to nds.h. */
#ifndef NDS_USER_H
#define NDS_USER_H

#include "nds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Address in this process of a byte of a space: how an mmap of the device is served in-process. */
void* nds_user_space_address(struct nds_space* space, uint64_t offset);

/*
 * Address in this process of byte `offset` of a core's memory (nds_device_core_space), which is one
 * contiguous sparse mapping: zero until touched, valid while the device lives. NULL if there is no
 * such core or byte.
 */
uint8_t* nds_user_core_memory(struct nds_device* device, uint32_t core, uint64_t offset);

/*
 * Whether mmaps of this thread have the right to map any device address, as root has on a node. No,
 * unless this says so.
 */
void nds_user_allow_raw_mappings(bool allowed);

/*
 * Where nds_os_log lines go; NULL (the initial value) drops them. Called from any thread. Set it
 * before the first device is used.
 */
void nds_user_set_log(void (*sink)(const char* line));

#ifdef __cplusplus
}
#endif

#endif
