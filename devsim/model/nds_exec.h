/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Executions (spec 04 section 12, spec 10 sections 1 and 7). A doorbell - an increment of semaphore
 * 0 - makes its thread the runner: it starts the requests of rung cores and runs the engines of all
 * cores of the device until nothing can move. One thread at a time is the runner; it holds the run
 * lock throughout and the DMA lock too, but gives the latter away between two records to those who
 * want it (nds_dma_give_way). So whoever has the DMA lock may stop a core; only the runner starts
 * one.
 *
 *   nds_exec_request.c   doorbell, requests, start, end and failure of a core
 *   nds_exec_schedule.c  whose turn it is, limits
 *   nds_exec_engine.c    one record of one engine: fetch, waits, updates, control records
 *   nds_exec_transfer.c  address operands, direct transfers, register loads and stores
 *   nds_exec_settings.c  what the host may set, observers
 */
#ifndef NDS_EXEC_H
#define NDS_EXEC_H

#include "nds.h"
#include "nds_os.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/execution.h"

#define NDS_EXEC_REGISTERS 256u
/* Direct transfers of one engine that may be on their way when the schedule delays them. */
#define NDS_EXEC_TRANSFERS 32u
#define NDS_EXEC_NEVER ~0ull

enum nds_exec_state {
  NDS_ENGINE_STOPPED, /* not in an execution */
  NDS_ENGINE_RUNNING,
  NDS_ENGINE_HALTED,
  NDS_ENGINE_FINISHED, /* back at its gate */
};

struct nds_transfer_side {
  uint64_t pa;
  int32_t step[2]; /* bytes */
  uint32_t bytes;  /* of a run */
  uint32_t dtype;
};

/* A direct transfer: count[0] * count[1] runs, the first index fastest, then the semaphore. */
struct nds_transfer {
  struct nds_transfer_side from;
  struct nds_transfer_side to;
  uint32_t count[2];
  uint32_t slot; /* of its record */
  uint8_t semaphore;
  uint8_t increment;
};

struct nds_exec_engine {
  enum nds_exec_state state;
  bool started; /* the START and the END notification are out */
  bool ended;
  uint64_t base; /* device address of the image */
  uint64_t pc;   /* bytes from there */
  /* Of the event unit, when the engine found that it must wait; NDS_EXEC_NEVER = look. */
  uint64_t seen;
  uint32_t registers[NDS_EXEC_REGISTERS];
  struct nds_transfer transfers[NDS_EXEC_TRANSFERS];
  uint32_t first_transfer;
  uint32_t transfer_count;
};

struct nds_exec_core {
  bool running;
  uint32_t rung; /* doorbells whose request has not been started */
  int32_t owner; /* process that rang last */
  uint64_t dge_table;
  enum nds_compute_mode mode;
  struct nds_compute compute;
  struct nds_exec_engine engine[NEURON_ENGINES_PER_CORE];
};

/* Under the DMA lock. */
struct nds_exec {
  nds_mutex_t run_lock;
  enum nds_compute_mode mode;
  struct nds_compute compute;
  struct nds_observer observer;
  uint64_t random; /* state of the schedule's generator, 0 = deterministic */
  uint32_t schedule_flags;
  uint32_t limit_ms;
  uint64_t deadline; /* of the present runner, nds_os_now(); 0 = none */
  uint64_t quiet;    /* control records since the last compute record or transfer */
  uint64_t last_timestamp;
  struct nds_exec_counters counters;
  struct nds_exec_core core[NEURON_V3_CORES];
};

/* nds_exec_request.c */

/* Semaphore 0 of a core was incremented by a call of process `tgid`: runs what can run. */
void nds_exec_doorbell(struct nds_device* device, uint32_t core, uint32_t count, int32_t tgid);
/* The core's engines stop where they are, and nobody is told. */
void nds_exec_reset_core(struct nds_device* device, uint32_t core);
/* The same for the cores that a process rang; tgid 0 = all cores. */
void nds_exec_drop_process(struct nds_device* device, int32_t tgid);
/* Starts the next request of a core that was rung and is idle. True if there was one. */
bool nds_exec_start_next(struct nds_device* device, uint32_t core);
/* Posts the error and stops the core. `field`: offending byte of the record, 0 = all of it. */
void nds_exec_fail(struct nds_device* device, uint32_t core, uint32_t engine,
                   enum neuron_exec_error error, uint32_t field);
/* The end of an execution whose error has been posted. */
void nds_exec_end_in_error(struct nds_device* device, uint32_t core);
/* A queue was aborted: an error of the core it belongs to, if that executes. */
void nds_exec_ring_failed(struct nds_device* device, uint32_t queue_index, int error);
/* An engine has ended or moved: whether that ends the execution of its core. */
void nds_exec_check_end(struct nds_device* device, uint32_t core);
/* Posts an error of an engine that does not end the execution. */
void nds_exec_post_error(struct nds_device* device, uint32_t core, uint32_t engine, uint32_t slot,
                         enum neuron_exec_error error, uint32_t field);
void nds_exec_post_status(struct nds_device* device, uint32_t core, uint32_t engine,
                          enum neuron_notification_subtype subtype);

/* nds_exec_schedule.c: until nothing can move. False if the process was killed. */
bool nds_exec_run(struct nds_device* device);

/* nds_exec_engine.c */

static inline uint32_t nds_exec_slot(const struct nds_exec_engine* engine) {
  return (uint32_t)(engine->pc / 64);
}
/*
 * Executes the next record of a running engine if its waits hold. False if it has to wait; true
 * also if the engine or its core stopped.
 */
bool nds_exec_step(struct nds_device* device, uint32_t core, uint32_t engine);

/* nds_exec_transfer.c */
/* 0, or -EINVAL with *field. */
int nds_transfer_decode(struct nds_device* device, uint32_t core, uint32_t engine,
                        const uint8_t* record, struct nds_transfer* out, uint32_t* field);
/* Moves the data, then adds to the semaphore. 0, -EFAULT with *field, -ENOMEM; -EINTR: stopped. */
int nds_transfer_run(struct nds_device* device, uint32_t core, uint32_t engine,
                     const struct nds_transfer* transfer, uint32_t* field);
/* The oldest direct transfer that waits completes. */
void nds_transfer_complete_oldest(struct nds_device* device, uint32_t core, uint32_t engine);
/* A load or store of registers: 0, or -EINVAL, -EFAULT (nothing is there) with *field, or -ENOMEM.
 */
int nds_exec_tensor_access(struct nds_device* device, uint32_t core, uint32_t engine,
                           const uint8_t* record, uint32_t* field);

/* nds_exec_settings.c: a point in time for the observer, 0 if nobody observes */
uint64_t nds_exec_begin_observing(const struct nds_device* device);
void nds_exec_observe_ring(const struct nds_device* device, uint32_t queue_index, uint32_t bytes,
                           uint64_t begin);
void nds_exec_observe_direct(const struct nds_device* device, uint32_t core, uint32_t engine,
                             uint64_t bytes, uint64_t begin);
void nds_exec_observe_record(const struct nds_device* device, uint32_t core, uint32_t engine,
                             uint32_t slot, uint8_t opcode, uint64_t begin);
/* Error class of a bus error. */
enum neuron_exec_error nds_exec_class_of(int error);

#endif
