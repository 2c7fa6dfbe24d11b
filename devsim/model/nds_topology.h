/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#ifndef NDS_TOPOLOGY_H
#define NDS_TOPOLOGY_H

#include "nds_os.h"

struct nds_device;
struct nds_machine;

/* The routing id that the device with this index has on machines of this kind. */
uint32_t nds_routing_id(const struct nds_device* device, uint32_t device_index);
/* Devices of the machine. Takes the machine lock. */
uint32_t nds_device_total(struct nds_machine* machine);
/* Neighbours of a device among `total`: at most four ids; the count is returned. */
uint32_t nds_neighbours(const struct nds_device* device, uint32_t total, uint32_t* out);
/* Physical index of a logical core, on V3 and V4. */
uint32_t nds_physical_core(const struct nds_device* device, uint32_t device_index, uint32_t core);

#endif
