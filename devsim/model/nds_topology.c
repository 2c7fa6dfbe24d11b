/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Where devices sit: routing ids, neighbours and core numbers (spec 06 sections 4.1 and 7.4). */
#include "nds_topology.h"

#include "nds_internal.h"

#define TABLE 16u

/* Routing id -> device index. */
static const uint8_t trn1_index[TABLE] = {0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10};
static const uint8_t trn2_index[TABLE] = {0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10};

static const uint8_t trn2_neighbours[TABLE][4] = {
    {12, 1, 3, 4},  {0, 13, 5, 2},  {14, 3, 1, 6},   {2, 15, 7, 0},
    {8, 5, 7, 0},   {4, 9, 1, 6},   {10, 7, 5, 2},   {6, 11, 3, 4},
    {4, 9, 11, 12}, {8, 5, 13, 10}, {6, 11, 9, 14},  {10, 7, 15, 8},
    {0, 13, 15, 8}, {12, 1, 9, 14}, {2, 15, 13, 10}, {14, 3, 11, 12},
};

/* Logical core k of a V3 device -> physical index, by the device's place (four patterns). */
static const uint8_t v3_cores[4][NEURON_V3_CORES] = {
    {4, 5, 6, 7, 2, 3, 0, 1},
    {2, 3, 0, 1, 4, 5, 6, 7},
    {0, 1, 2, 3, 6, 7, 4, 5},
    {6, 7, 4, 5, 0, 1, 2, 3},
};

static bool is_inf2(const struct nds_device* device) {
  return device->config.pci_device_id == NDS_PCI_INF2;
}

uint32_t nds_routing_id(const struct nds_device* device, uint32_t device_index) {
  const uint8_t* table = nds_is_v2(device) ? trn1_index : trn2_index;
  uint32_t rid;

  if (is_inf2(device)) return device_index;
  for (rid = 0; table[rid] != device_index % TABLE; rid++) {
  }
  return rid + device_index / TABLE * TABLE;
}

uint32_t nds_device_total(struct nds_machine* machine) {
  uint32_t index;
  uint32_t total = 0;

  nds_mutex_lock(&machine->lock);
  for (index = 0; index < NEURON_MAX_DEVICES; index++) total += machine->devices[index] != NULL;
  nds_mutex_unlock(&machine->lock);
  return total;
}

/* The torus of trn1: up, left, down, right. */
static uint32_t trn1_neighbours_of(uint32_t index, uint32_t* out) {
  uint32_t row = index / 4, column = index % 4;

  out[0] = (row + 3) % 4 * 4 + column;
  out[1] = row * 4 + (column + 3) % 4;
  out[2] = (row + 1) % 4 * 4 + column;
  out[3] = row * 4 + (column + 1) % 4;
  return 4;
}

/* inf2: a ring of twelve, or a line of six. */
static uint32_t inf2_neighbours_of(uint32_t index, uint32_t total, uint32_t* out) {
  uint32_t count = 0;

  if (total == 12) {
    out[0] = (index + 11) % 12;
    out[1] = (index + 1) % 12;
    return 2;
  }
  if (total != 6) return 0;
  if (index > 0) out[count++] = index - 1;
  if (index < 5) out[count++] = index + 1;
  return count;
}

uint32_t nds_neighbours(const struct nds_device* device, uint32_t total, uint32_t* out) {
  uint32_t index = device->config.device_index;
  uint32_t count = 4;
  uint32_t k;

  if (is_inf2(device)) return inf2_neighbours_of(index, total, out);
  if (!total || total % TABLE) return 0;
  if (nds_is_v2(device))
    count = trn1_neighbours_of(index % TABLE, out);
  else
    for (k = 0; k < count; k++) out[k] = trn2_neighbours[index % TABLE][k];
  for (k = 0; k < count; k++) out[k] += index / TABLE * TABLE;
  return count;
}

/* Which of the four patterns a place has: even or odd, in the outer or the middle rows. */
static uint32_t v3_pattern(uint32_t device_index) {
  uint32_t place = device_index % TABLE;

  return (place >> 2 & 1) * 2 + (place & 1);
}

uint32_t nds_physical_core(const struct nds_device* device, uint32_t device_index, uint32_t core) {
  uint32_t pattern = v3_pattern(device_index);

  /* V4 boards know two patterns. */
  if (device->profile->architecture == NEURON_ARCH_V4) pattern = device_index & 1 ? 3 : 0;
  return v3_cores[pattern][core];
}
