/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * A page pool: address-ordered first fit over a bitmap of 4 KiB pages (spec 06 section 5.2).
 *
 * First fit must not read 24 GiB worth of bits for every request, so the bitmap is cut into blocks
 * of 4096 pages, each with the lengths of its free head, its free tail and its longest free run.
 * Freeing needs no memory and so cannot fail.
 */
#ifndef NDS_POOL_H
#define NDS_POOL_H

#include "nds_os.h"

#define NDS_POOL_NO_SPACE (~0ull)

struct nds_pool_block {
  uint16_t head;    /* free pages at the start of the block */
  uint16_t tail;    /* free pages at its end */
  uint16_t longest; /* longest free run inside */
};

struct nds_pool {
  uint64_t base; /* device physical address of page 0 */
  uint64_t pages;
  uint64_t block_count;
  uint64_t* bits; /* 1 = taken */
  struct nds_pool_block* blocks;
};

/* `base` and `bytes` are page multiples; `bytes` may be 0. 0 or -ENOMEM. */
int nds_pool_init(struct nds_pool* pool, uint64_t base, uint64_t bytes);
void nds_pool_destroy(struct nds_pool* pool);

/*
 * Takes the lowest free run of `bytes` (a page multiple). `align` > 4096 follows the driver's exact
 * rule (spec 11 B.1), which for values that are no power of two may yield an address that is not a
 * multiple; the caller checks. Returns the address or NDS_POOL_NO_SPACE.
 */
uint64_t nds_pool_take(struct nds_pool* pool, uint64_t bytes, uint64_t align);
/* Takes exactly [address, address + bytes): true, or false if it is outside or not all free. */
bool nds_pool_take_at(struct nds_pool* pool, uint64_t address, uint64_t bytes);
void nds_pool_give(struct nds_pool* pool, uint64_t address, uint64_t bytes);

static inline uint64_t nds_pool_bytes(const struct nds_pool* pool) {
  return pool->pages << 12;
}

static inline uint64_t nds_pool_end(const struct nds_pool* pool) {
  return pool->base + nds_pool_bytes(pool);
}

static inline bool nds_pool_contains(const struct nds_pool* pool, uint64_t address) {
  return address >= pool->base && address - pool->base < nds_pool_bytes(pool);
}

#endif
