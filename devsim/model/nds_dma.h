/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * DMA engines and their queues (spec 06 section 4.7). Every queue has a TX and an RX half.
 */
#ifndef NDS_DMA_H
#define NDS_DMA_H

#include "nds_os.h"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

/* One ring of a queue. */
struct nds_ring {
  /*
   * The chunk the driver believes to hold the ring. It may have been freed since: compare the
   * sequence before use. 0 = no ring.
   */
  uint64_t chunk_pa;
  uint64_t chunk_sequence;
  bool chunk_host;
  /* What the hardware was programmed with. */
  uint64_t base;
  uint32_t length; /* descriptors; 0 = never initialised */
  uint32_t head;
  uint32_t tail;
  uint32_t pending;  /* descriptors a doorbell announced and that have not run */
  uint32_t progress; /* bytes of the descriptor at head that have moved */
  uint32_t laps;     /* wraps of head since the last restart */
  uint32_t restarts; /* tells a descriptor that it has restarted its own ring */
};

struct nds_queue {
  struct nds_ring tx;
  struct nds_ring rx;
  int32_t owner; /* process that initialised it, 0 = none */
  /* Which of the next 64 pairs have run out of turn, while the rings have `done_since` restarts. */
  uint64_t done;
  uint32_t done_since;
};

struct nds_engine {
  uint32_t state; /* enum neuron_dma_eng_run_state */
  struct nds_queue queue[NEURON_MAX_DMA_QUEUES];
};

#define NDS_MAX_QUEUES (NEURON_MAX_DMA_ENGINES * NEURON_MAX_DMA_QUEUES)

/* What a cast of one descriptor pair may need. */
#define NDS_CAST_BYTES (2u * NEURON_UDMA_MAX_DESC_BYTES)

struct nds_dma {
  nds_mutex_t lock;
  uint32_t waiters;           /* threads that want the lock; an atomic word */
  struct nds_engine* engines; /* as many as the architecture has */
  bool rung;                  /* a doorbell made descriptors pending */
  /* One bit for each queue that may have descriptors to run, numbered engine * 16 + queue. */
  uint64_t waiting[(NDS_MAX_QUEUES + 63) / 64];
  uint8_t* scratch; /* NDS_CAST_BYTES */
};

struct nds_device;

/*
 * The DMA lock. An execution holds it for long, and gives way between two steps to those who wait
 * for it; what it uses may then have changed.
 */
void nds_dma_lock(struct nds_device* device);
void nds_dma_unlock(struct nds_device* device);
void nds_dma_give_way(struct nds_device* device);

/* 0 or -ENOMEM */
int nds_dma_init(struct nds_device* device);
void nds_dma_destroy(struct nds_device* device);
/* Process exit: the rings of its queues are taken away (spec 06 section 2, flush). */
void nds_dma_drop_process(struct nds_device* device, int32_t tgid);
/* True for the queues of the driver's own copies. */
bool nds_dma_is_driver_queue(const struct nds_device* device, uint32_t engine, uint32_t queue);
/* True if the chunk the ring was initialised with has not been freed. Needs the device lock. */
bool nds_ring_chunk_lives(struct nds_device* device, const struct nds_ring* ring);
/* The queue, or NULL if the engine or queue does not exist. Needs the DMA lock. */
struct nds_queue* nds_dma_queue(struct nds_device* device, uint32_t engine, uint32_t queue);
/* The same by its number, engine * 16 + queue, which the functions below take. */
struct nds_queue* nds_dma_queue_at(struct nds_device* device, uint32_t index);
/* Engines of a core and its copy queue: no rings, engines idle. Needs the DMA lock. */
void nds_dma_clear_core(struct nds_device* device, uint32_t core);
/* The same, and the driver has its copy queue up again. Needs the DMA lock. */
void nds_dma_reset_core(struct nds_device* device, uint32_t core);
/* Forgets the descriptors that wait: they never run. Needs the DMA lock. */
void nds_dma_drop_work(struct nds_device* device);
/* Accounts for `descriptors` that the driver's own copy of a chunk of core `nc_id` would use. */
void nds_dma_count_copy(struct nds_device* device, uint32_t nc_id, uint64_t descriptors);

/* Below, all need the DMA lock. */

/* Makes descriptors of queue `index` pending; nds_dma_run then runs everything that can run. */
void nds_ring_add(struct nds_device* device, uint32_t index, struct nds_ring* ring, uint32_t count);
/* Head and tail to 0, as the reset bit of a queue does. */
void nds_ring_restart(struct nds_ring* ring);
/* Goes on behind the pending descriptors without running them. */
void nds_ring_skip(struct nds_ring* ring);
void nds_dma_run(struct nds_device* device);
/* The same as a part of an execution, which gives way and may be killed: then false. */
bool nds_dma_run_in_execution(struct nds_device* device);
/* The next queue at or behind `from` that may have descriptors to run: false if there is none. */
bool nds_dma_next_waiting(const struct nds_device* device, uint32_t from, uint32_t* index);
/* Runs one pair of a queue, or what the shorter side allows. False if it has nothing to run. */
bool nds_dma_step(struct nds_device* device, uint32_t index, bool any_order, uint32_t pick);
/*
 * Runs pairs at the heads of a queue while both descriptors carry the phase of their lap, as the
 * rings do that nobody rings (spec 04 section 12), until `enough`. At most two laps. 0 or what
 * aborted the engine.
 */
int nds_dma_walk(struct nds_device* device, uint32_t index,
                 bool (*enough)(struct nds_device* device, uint32_t core));
/* An execution begins on a core, or ends in an error: restarts or empties the model's queues. */
void nds_dma_restart_model_queues(struct nds_device* device, uint32_t core);
void nds_dma_empty_model_queues(struct nds_device* device, uint32_t core);
/* Register at a word-aligned offset of an existing engine. */
void nds_dma_register_write(struct nds_device* device, uint32_t engine, uint32_t offset,
                            uint32_t value);
uint32_t nds_dma_register_read(struct nds_device* device, uint32_t engine, uint32_t offset);
/* True if the value would announce more descriptors than the ring has free. Needs the DMA lock. */
bool nds_dma_register_over_runs(struct nds_device* device, uint32_t engine, uint32_t offset,
                                uint32_t value);
/* True for ring bases and doorbells, which the host may not write (spec 06 section 4.2). */
bool nds_dma_register_is_protected(uint32_t offset);

/* One side of a cast. */
struct nds_cast_side {
  uint64_t pa;
  uint32_t bytes; /* at most 64 KiB */
  uint32_t dtype; /* enum neuron_dtype */
};
/* True if the types can be converted and the sizes hold equally many elements. */
bool nds_cast_fits(const struct nds_cast_side* from, const struct nds_cast_side* to);
/* Converts. 0, -EFAULT (types, sizes or addresses do not fit) or -ENOMEM. */
int nds_cast(struct nds_device* device, const struct nds_cast_side* from,
             const struct nds_cast_side* to);

#endif
