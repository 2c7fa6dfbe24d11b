/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The device's own view of addresses: what a DMA descriptor may name. HBM, host memory and the
 * memories of cores and TOPSPs are bytes in spaces; event units and DMA engines are registers that
 * act when written (spec 04 section 7.1, spec 03 section 7).
 */
#ifndef NDS_BUS_H
#define NDS_BUS_H

#include "nds_os.h"

struct nds_device;

#define NDS_MAX_WINDOWS 32u

/* A plain memory of the device outside HBM: one core's aperture, a TOPSP, a pre-processing unit. */
struct nds_window {
  uint64_t base;
  uint64_t bytes;
  struct nds_space* space;
};

enum nds_target_kind {
  NDS_TARGET_NONE,     /* nothing answers at this address */
  NDS_TARGET_MEMORY,   /* space + offset */
  NDS_TARGET_EVENTS,   /* event unit of core `index`, at `offset` */
  NDS_TARGET_DMA,      /* registers of DMA engine `index`, at `offset` */
  NDS_TARGET_CONSTANT, /* reads as `value` */
};

struct nds_target {
  enum nds_target_kind kind;
  struct nds_space* space;
  uint64_t offset;
  uint64_t bytes; /* from here to where the target ends */
  uint32_t index;
  uint32_t value;
};

/* 0 or -ENOMEM; destroy also after a failed create. */
int nds_bus_create(struct nds_device* device);
void nds_bus_destroy(struct nds_device* device);

struct nds_target nds_bus_resolve(struct nds_device* device, uint64_t pa);

/*
 * Moves bytes between two device addresses. Registers take and give whole words only. Needs the DMA
 * lock, because a write may ring a doorbell. 0, -EFAULT (nothing there, or a register is misused)
 * or -ENOMEM.
 */
int nds_bus_copy(struct nds_device* device, uint64_t to, uint64_t from, uint64_t bytes);
int nds_bus_read(struct nds_device* device, uint64_t pa, void* to, size_t bytes);
int nds_bus_write(struct nds_device* device, uint64_t pa, const void* from, size_t bytes);

/* True if `pa` lies in a TOPSP or a pre-processing unit, which the model does not run. */
bool nds_bus_is_foreign(struct nds_device* device, uint64_t pa);

/* True if [pa, pa + bytes) is one that PROGRAM_ENGINE accepts (spec 06 section 7.3). */
bool nds_bus_is_programmable(struct nds_device* device, uint64_t pa, uint64_t bytes);

/*
 * The event unit of a core: semaphore values and events live in the core's memory, so that mapped
 * windows show them. `offset` is inside the unit and word-aligned. No lock needed.
 */
uint32_t nds_events_read(struct nds_device* device, uint32_t core, uint64_t offset);
void nds_events_write(struct nds_device* device, uint32_t core, uint64_t offset, uint32_t value);
/* A number that changes whenever an event or semaphore of the core is written. */
uint64_t nds_events_version(const struct nds_device* device, uint32_t core);
/* An execution begins: semaphores 3 to 239 and all events go back to 0 (decision 22). */
void nds_events_begin(struct nds_device* device, uint32_t core);
/* Clears all events and semaphores of a core. */
void nds_events_clear(struct nds_device* device, uint32_t core);

#endif
