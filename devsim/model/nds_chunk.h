/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Memory chunks: what an allocation leaves behind. Chunks are found by handle (nds_handle.h) and by
 * device physical address (a tree), and are listed by age, because a process that exits gives its
 * chunks back newest first (spec 06 section 5.4).
 *
 * All functions here need the device lock, except where they say otherwise.
 */
#ifndef NDS_CHUNK_H
#define NDS_CHUNK_H

#include "nds_os.h"

struct nds_device;

enum nds_lifespan {
  NDS_LIFE_CUR_PROCESS = 2,
  NDS_LIFE_ALL_PROCESS = 3,
  NDS_LIFE_DEVICE = 4,
};

struct nds_chunk {
  uint64_t pa;
  uint64_t bytes;    /* rounded to pages */
  uint64_t handle;   /* 0 = none was minted */
  uint64_t sequence; /* age; also tells a chunk from a later one at the same address */
  int32_t tgid;      /* allocating process */
  uint32_t mem_type;
  uint32_t nc_id;
  uint32_t hbm; /* meaningless if host */
  enum nds_lifespan lifespan;
  bool host;
  uint32_t pins; /* calls that use the memory right now */
  bool dead;     /* freed, waits for the last pin */

  struct nds_chunk *left, *right; /* tree by pa */
  uint64_t priority;
  struct nds_chunk *older, *newer;
};

struct nds_chunk_index {
  struct nds_chunk* root;
  struct nds_chunk *oldest, *newest;
  uint64_t next_sequence;
};

struct nds_alloc_request {
  uint64_t bytes;
  uint64_t align;
  bool host;
  uint32_t dram_channel;
  uint32_t nc_id;
  uint32_t mem_type;
  int32_t tgid;
  enum nds_lifespan lifespan;
};

/*
 * Allocation with the driver's order of checks (spec 06 section 5.1). 0, -EINVAL or -ENOMEM. The
 * chunk has no handle yet.
 */
int nds_chunk_alloc(struct nds_device* device, const struct nds_alloc_request* request,
                    struct nds_chunk** out);
/*
 * Enters host memory of the driver's own, outside the pool, as a chunk that lives as long as the
 * device. 0 or -ENOMEM.
 */
int nds_chunk_adopt(struct nds_device* device, uint64_t pa, uint64_t bytes);
/* Takes the handle away and gives the memory back, as soon as nobody has it pinned. */
void nds_chunk_free(struct nds_device* device, struct nds_chunk* chunk);
/* Frees, newest first, the chunks of `lifespan` (of process `tgid`, or of all if tgid is 0). */
void nds_chunk_free_all(struct nds_device* device, enum nds_lifespan lifespan, int32_t tgid);

/*
 * Gives back the memory that belongs to no chunk; it reads as zero again. Otherwise a device that
 * lives long would hold every page that was ever written.
 */
void nds_chunk_forget_free(struct nds_device* device);

/* The live chunk that contains `pa`, or NULL. */
struct nds_chunk* nds_chunk_at(const struct nds_chunk_index* index, uint64_t pa);
/* The live chunk with the lowest address not below `pa`, or NULL. */
struct nds_chunk* nds_chunk_from(const struct nds_chunk_index* index, uint64_t pa);

/*
 * Keeps the memory of a handle in place while a call copies without the device lock. Both take the
 * lock themselves. nds_chunk_pin returns NULL for an unknown handle.
 */
struct nds_chunk* nds_chunk_pin(struct nds_device* device, uint64_t handle);
void nds_chunk_unpin(struct nds_device* device, struct nds_chunk* chunk);

/* Where the chunk's byte 0 is. No lock needed while the chunk is pinned. */
struct nds_space* nds_chunk_space(const struct nds_device* device, const struct nds_chunk* chunk,
                                  uint64_t* offset);
/* True if [offset, offset + bytes) may be used through this chunk's handle (spec 06 section 4.5).
 */
bool nds_chunk_covers(const struct nds_device* device, const struct nds_chunk* chunk,
                      uint64_t offset, uint64_t bytes);

#endif
