/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The reserved memory that the BARs lie in:
 *
 *   reserved_at   register BARs of all cards, each at a multiple of its size
 *                 memory BARs of all cards, likewise
 *   ...           unused
 */
#include <linux/io.h>
#include <linux/ioport.h>

#include "vpci.h"

/* Whether there is memory at an address: what is written there can be read. */
static bool is_memory(u64 at) {
  u32* word = memremap(at & PAGE_MASK, PAGE_SIZE, MEMREMAP_WC);
  u32 before;
  bool same;

  if (!word) return false;
  before = READ_ONCE(*word);
  WRITE_ONCE(*word, ~before);
  mb();
  same = READ_ONCE(*word) == ~before;
  WRITE_ONCE(*word, before);
  memunmap(word);
  return same;
}

/*
 * What the kernel's map of memory has around a range: the entry that memmap= made, which may be
 * larger (it merges with its neighbours) or the same. insert_resource() would make the same one a
 * child of the window, where it takes the place of the BARs.
 */
static struct resource* entry_around(u64 at, u64 bytes) {
  struct resource* entry;

  for (entry = iomem_resource.child; entry; entry = entry->sibling)
    if (entry->start <= at && at + bytes - 1 <= entry->end) return entry;
  return &iomem_resource;
}

int vpci_reserve(const struct vpci_params* params, struct resource* window) {
  u64 at = params->reserved_at;
  u64 bytes = params->reserved_bytes;
  int error;

  if (region_intersects(at, bytes, IORESOURCE_SYSTEM_RAM, IORES_DESC_NONE) != REGION_DISJOINT) {
    pr_err(
        "neuron_vpci: the kernel uses memory of 0x%llx bytes at 0x%llx; reserve it with "
        "memmap=%lluM$%lluM on its command line\n",
        bytes, at, bytes >> 20, at >> 20);
    return -EBUSY;
  }
  if (!is_memory(at) || !is_memory(at + bytes - 1)) {
    pr_err("neuron_vpci: there is no memory of 0x%llx bytes at 0x%llx\n", bytes, at);
    return -ENXIO;
  }
  *window = (struct resource){.name = "neuron_vpci",
                              .start = at,
                              .end = at + bytes - 1,
                              .flags = IORESOURCE_MEM | IORESOURCE_MEM_64};
  error = request_resource(entry_around(at, bytes), window);
  if (error) pr_err("neuron_vpci: the memory at 0x%llx is in use, see /proc/iomem\n", at);
  return error;
}

void vpci_unreserve(struct resource* window) {
  (void)release_resource(window);
}

static u64 place_bar(struct vpci_bar* bar, u64 at, u64 bytes) {
  if (!bytes) return at;
  bar->at = ALIGN(at, bytes);
  bar->bytes = bytes;
  return bar->at + bytes;
}

int vpci_place(const struct vpci_params* params, struct vpci_card* cards) {
  u64 at = params->reserved_at;
  u64 end = at + params->reserved_bytes;
  unsigned int index;

  for (index = 0; index < params->cards; index++)
    at = place_bar(&cards[index].registers, at, params->register_bytes);
  for (index = 0; index < params->cards; index++)
    at = place_bar(&cards[index].memory, at, params->memory_bytes);
  if (at <= end) return 0;
  pr_err(
      "neuron_vpci: %u cards need the memory up to 0x%llx, but the reserved memory ends at "
      "0x%llx; reserve more, or make the BARs smaller (memory_bar=SIZE)\n",
      params->cards, at, end);
  return -ENOSPC;
}
