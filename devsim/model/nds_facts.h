/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What the driver shows in sysfs (spec 06 section 8), as text by relative path, and the memory
 * counters behind it.
 */
#ifndef NDS_FACTS_H
#define NDS_FACTS_H

#include "nds_os.h"
#include "neuron_abi/ioctl.h"

#define NDS_HOST_CATEGORIES 8u
#define NDS_DEVICE_CATEGORIES 11u

struct nds_device;
struct nds_chunk;

/* Bytes of one category. */
struct nds_usage {
  uint64_t total; /* ever charged */
  uint64_t present;
  uint64_t peak;
};

struct nds_facts {
  struct nds_usage host[NDS_HOST_CATEGORIES];
  struct nds_usage device[NEURON_MAX_CORES_PER_DEVICE][NDS_DEVICE_CATEGORIES];
  uint64_t resets[NEURON_MAX_CORES_PER_DEVICE];
};

/* Charges a chunk to its category and core, or takes it back. Need the device lock. */
void nds_facts_charge(struct nds_device* device, const struct nds_chunk* chunk);
void nds_facts_discharge(struct nds_device* device, const struct nds_chunk* chunk);

#endif
