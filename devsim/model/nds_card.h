/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * A device of the model as a PCI card: what is behind its BARs, for a host that leaves files,
 * ioctls and memory management to a real driver (devsim/vpci). The other public functions are those
 * of nds.h that make, silence and destroy devices.
 */
#ifndef NDS_CARD_H
#define NDS_CARD_H

#include "nds.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The registers of a device that has been switched on: routing id, serial number, no queues. To be
 * called before the others, once the host has placed the spaces.
 */
void nds_card_start(struct nds_device* device);

/*
 * A word of the register BAR, at an offset that is a multiple of 4 and inside the BAR. A write acts
 * before it returns: doorbells move all the bytes they announce, the firmware answers, cores whose
 * semaphore 0 is incremented execute.
 */
uint32_t nds_card_read(struct nds_device* device, uint64_t offset);
void nds_card_write(struct nds_device* device, uint64_t offset, uint32_t value);

/* Descriptors that silence (NDS_SILENT_DMA) has left waiting never run. */
void nds_card_drop_work(struct nds_device* device);

/* A memory of the device that can be seen in a BAR: of the registers, or of the HBMs. */
struct nds_card_view {
  struct nds_space* space;
  uint64_t space_offset;
  uint64_t bytes;
  bool hbm; /* in the memory BAR, else in the register BAR */
  uint64_t bar_offset;
};

/* The view number `index`, counted from 0; false behind the last one. */
bool nds_card_view_at(const struct nds_device* device, uint32_t index, struct nds_card_view* out);

/* The memory of the host: an offset in it is a bus address. */
struct nds_space* nds_card_host_memory(const struct nds_device* device);

#ifdef __cplusplus
}
#endif

#endif
