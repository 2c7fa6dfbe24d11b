/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Per-core state of the driver: core init, resets, reader/writer locks, notification queues and the
 * processes' data stores (spec 06 sections 4.3, 4.4, 4.5 and 4.8). All of it under the device lock.
 */
#ifndef NDS_CORE_H
#define NDS_CORE_H

#include "nds_os.h"
#include "neuron_abi/ioctl.h"

#define NDS_NQ_TYPES 6u
#define NDS_NQ_ENGINES 16u
#define NDS_NQ_IDS (NDS_NQ_TYPES * NDS_NQ_ENGINES)
#define NDS_MAX_TOPSPS 16u
#define NDS_CRWL_READERS 16u
#define NDS_DATA_STORES 16u
#define NDS_DATA_STORE_BYTES 0x40000u

struct nds_device;
struct nds_chunk;

/* Names a chunk without keeping it alive. sequence 0 = none. */
struct nds_chunk_ref {
  uint64_t pa;
  uint64_t sequence;
};

/* The ring of each notification queue id of one core or TOPSP. */
struct nds_nq_set {
  struct nds_chunk_ref ring[NDS_NQ_IDS];
  uint8_t laps[NDS_NQ_IDS]; /* of the hardware's queues, by engine index; under the DMA lock */
};

struct nds_core_lock {
  bool writing;
  bool had_writer; /* uuid and writer mean something */
  int32_t writer;
  uint8_t uuid[32];
  uint32_t readers;
  struct {
    int32_t tgid;
    uint32_t count;
  } reader[NDS_CRWL_READERS];
};

struct nds_core {
  uint64_t events_version;             /* an atomic word */
  uint32_t init_state;                 /* enum neuron_cinit_state */
  bool async_busy[NEURON_ASYNC_2 + 1]; /* contexts of asynchronous copies */
  struct nds_core_lock lock;
  struct nds_nq_set nq;
};

/* A finished reset that its process has not asked about yet. */
struct nds_reset_request {
  int32_t tgid;
  struct nds_reset_request* next;
};

struct nds_data_store {
  int32_t tgid; /* 0 = free */
  uint32_t references;
};

void nds_cores_init(struct nds_device* device);
/* A process goes: its reset requests, locks and its data store. */
void nds_cores_drop_process(struct nds_device* device, int32_t tgid);
void nds_cores_destroy(struct nds_device* device);
/* The last file was closed. */
void nds_stores_clear(struct nds_device* device);
struct neuron_notification;
/*
 * Appends a record to the hardware queue `index` of a core; its phase and time are filled in. A
 * record that finds no room is dropped and remembered in the interrupt word; without a ring nothing
 * happens. Needs the DMA lock.
 */
void nds_nq_post(struct nds_device* device, uint32_t core, uint32_t index,
                 struct neuron_notification record);
/* The registers of a core's queues go back to zero. Needs the DMA lock. */
void nds_nq_reset_registers(struct nds_device* device, uint32_t core);
/* Reset of a core or of its TOPSPs destroys their notification queues. */
void nds_nq_destroy(struct nds_device* device, struct nds_nq_set* set);
/* 0 or -ENOMEM: the chunks of the data stores, made by the driver at probe. */
int nds_stores_create(struct nds_device* device);
/* The chunk if it still lives, else NULL. */
struct nds_chunk* nds_chunk_of(const struct nds_device* device, const struct nds_chunk_ref* ref);

#endif
