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

/*
 * Spaces made from now on are files in memory that other processes can map, instead of this
 * process's own. The place of a byte in its file is its device address.
 */
void nds_user_share_spaces(bool shared);
/* How often this process gave the devices no memory: what they answered then is not theirs. */
uint64_t nds_user_memory_failures(void);
/* Why this thread's last attempt to make a space failed, an errno; 0 = it did not. */
int nds_user_space_error(void);
/* The file a space is, -1 if it is not shared; `place` = that of the byte at `offset`. */
int nds_user_space_file(const struct nds_space* space, uint64_t offset, uint64_t* place);

/*
 * Who calls, when that is another process: user addresses are its own then. Transfers return the
 * number of bytes NOT moved, those behind the first bad address.
 */
struct nds_user_caller {
  size_t (*read)(void* context, void* to, uint64_t user, size_t bytes);
  size_t (*write)(void* context, uint64_t user, const void* from, size_t bytes);
  uint64_t (*to_file)(void* context, int file, uint64_t place, uint64_t user, uint64_t bytes);
  uint64_t (*from_file)(void* context, int file, uint64_t place, uint64_t user, uint64_t bytes);
  bool (*is_gone)(void* context); /* nobody waits for the result any more */
  void* context;
};
/* Of this thread's calls from now on; NULL (the initial value) = this process. */
void nds_user_set_caller(const struct nds_user_caller* caller);

#ifdef __cplusplus
}
#endif

#endif
