/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The tree of chunks by address: a treap whose priorities are a hash of the address, so that it is
 * balanced without randomness and the same on every run. Loops only, for small kernel stacks.
 */
#ifndef NDS_TREE_H
#define NDS_TREE_H

#include "nds_chunk.h"

void nds_tree_insert(struct nds_chunk** root, struct nds_chunk* chunk);
void nds_tree_remove(struct nds_chunk** root, struct nds_chunk* chunk);
/* Highest chunk whose pa is not above `pa`, or NULL. */
struct nds_chunk* nds_tree_floor(struct nds_chunk* root, uint64_t pa);
/* Lowest chunk whose pa is not below `pa`, or NULL. */
struct nds_chunk* nds_tree_ceiling(struct nds_chunk* root, uint64_t pa);

#endif
