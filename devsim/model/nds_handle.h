/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Memory handles: plain indices from 1 into a two-level table; freed indices are reused last in,
 * first out (spec 06 section 5.4). All functions need the device lock.
 */
#ifndef NDS_HANDLE_H
#define NDS_HANDLE_H

#include "nds_os.h"

#define NDS_HANDLE_LEAVES 512u
#define NDS_HANDLE_LEAF_SLOTS 8192u

struct nds_chunk;

struct nds_handle_slot {
  struct nds_chunk* chunk; /* NULL = free */
  uint64_t next_free;      /* handle, 0 ends the list */
};

struct nds_handle_table {
  struct nds_handle_slot* leaf[NDS_HANDLE_LEAVES];
  uint64_t first_free;
  uint64_t highest; /* highest index ever minted */
  uint64_t live;
};

void nds_handle_table_destroy(struct nds_handle_table* table);
/* Mints a handle for `chunk` and stores it there. 0 or -ENOMEM (table full or no memory). */
int nds_handle_mint(struct nds_handle_table* table, struct nds_chunk* chunk);
void nds_handle_drop(struct nds_handle_table* table, struct nds_chunk* chunk);
/* NULL for an unknown handle; all 64 bits count. */
struct nds_chunk* nds_handle_find(const struct nds_handle_table* table, uint64_t handle);

#endif
