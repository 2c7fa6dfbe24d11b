/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Spaces for a PCI card. A part of a space that a BAR shows lies in the BAR's memory; the rest is
 * pages that are made when written, which must not sleep. The memory of the host is the machine's
 * own, by physical address.
 *
 * The card's lock guards all of it. Transfers end with a write barrier: the memory BAR is mapped
 * write-combined, and a driver that sees a completion must see the bytes before it.
 */
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "nds_os.h"
#include "vpci.h"

#define MOST_PARTS 2u /* a core shows in two pieces */

struct part {
  u64 offset;
  u64 bytes;
  u8* at;
};

struct nds_space {
  bool host;
  unsigned int parts;
  struct part part[MOST_PARTS];
  struct xarray pages; /* by offset / PAGE_SIZE; absent = zero */
};

/* The machine's memory: what the kernel's map calls System RAM. */
#define MOST_RANGES 64u
static struct {
  u64 start;
  u64 end;
} ram[MOST_RANGES];
static unsigned int ram_ranges;

static int learn_range(struct resource* range, void* argument) {
  if (ram_ranges == MOST_RANGES) return -ENOSPC;
  ram[ram_ranges].start = range->start;
  ram[ram_ranges].end = range->end + 1;
  ram_ranges++;
  return 0;
}

int vpci_space_find_host(void) {
  int error;

  ram_ranges = 0;
  error = walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1ull,
                              NULL, learn_range);
  if (error || !ram_ranges) pr_err("neuron_vpci: the kernel's memory map cannot be read\n");
  if (!error && !ram_ranges) error = -ENODEV;
  return error;
}

struct nds_space* nds_os_space_create(uint64_t bytes, uint64_t address) {
  struct nds_space* space = nds_os_alloc(sizeof *space);

  (void)bytes; /* the caller stays inside */
  (void)address;
  if (space) xa_init(&space->pages);
  return space;
}

void nds_os_space_destroy(struct nds_space* space) {
  unsigned long index;
  void* page;

  xa_for_each(&space->pages, index, page) free_page((unsigned long)page);
  xa_destroy(&space->pages);
  nds_os_free(space);
}

int vpci_space_place(struct nds_space* space, u64 offset, u64 bytes, void* at) {
  if (space->parts == MOST_PARTS) return -ENOMEM;
  space->part[space->parts].offset = offset;
  space->part[space->parts].bytes = bytes;
  space->part[space->parts].at = at;
  space->parts++;
  return 0;
}

void vpci_space_is_host(struct nds_space* space) {
  space->host = true;
}

/* A run of bytes of a space in this kernel's memory. */
struct run {
  u8* at; /* NULL: a hole, which reads as zero */
  u64 bytes;
};

static int host_run(u64 address, struct run* out) {
  unsigned int index;

  for (index = 0; index < ram_ranges; index++) {
    if (address < ram[index].start || address >= ram[index].end) continue;
    out->at = __va(address);
    out->bytes = ram[index].end - address;
    return 0;
  }
  return -EFAULT;
}

static int page_run(struct nds_space* space, u64 offset, bool make, struct run* out) {
  unsigned long index = (unsigned long)(offset >> PAGE_SHIFT);
  u8* page = xa_load(&space->pages, index);

  out->bytes = PAGE_SIZE - offset_in_page(offset);
  out->at = NULL;
  if (!page && make) {
    page = (u8*)get_zeroed_page(GFP_ATOMIC | __GFP_NOWARN);
    if (!page) return -ENOMEM;
    if (xa_is_err(xa_store(&space->pages, index, page, GFP_ATOMIC | __GFP_NOWARN))) {
      free_page((unsigned long)page);
      return -ENOMEM;
    }
  }
  if (page) out->at = page + offset_in_page(offset);
  return 0;
}

/* The run at an offset, at most `bytes` long. 0, -EFAULT (not memory of the host) or -ENOMEM. */
static int run_at(struct nds_space* space, u64 offset, u64 bytes, bool make, struct run* out) {
  unsigned int index;
  int error;

  if (space->host) {
    error = host_run(offset, out);
  } else {
    error = page_run(space, offset, false, out);
    for (index = 0; index < space->parts; index++) {
      const struct part* part = &space->part[index];

      if (offset < part->offset || offset - part->offset >= part->bytes) continue;
      out->at = part->at + (offset - part->offset);
      out->bytes = part->bytes - (offset - part->offset);
      break;
    }
    if (!out->at && make) error = page_run(space, offset, true, out);
  }
  out->bytes = min(out->bytes, bytes);
  return error;
}

int nds_os_space_read(struct nds_space* space, uint64_t offset, void* to, size_t bytes) {
  while (bytes) {
    struct run run;
    int error = run_at(space, offset, bytes, false, &run);

    if (error) return error;
    if (run.at)
      memcpy(to, run.at, run.bytes);
    else
      memset(to, 0, run.bytes);
    to += run.bytes;
    offset += run.bytes;
    bytes -= run.bytes;
  }
  return 0;
}

int nds_os_space_write(struct nds_space* space, uint64_t offset, const void* from, size_t bytes) {
  while (bytes) {
    struct run run;
    int error = run_at(space, offset, bytes, true, &run);

    if (error) return error;
    memcpy(run.at, from, run.bytes);
    from += run.bytes;
    offset += run.bytes;
    bytes -= run.bytes;
  }
  wmb();
  return 0;
}

int nds_os_space_fill(struct nds_space* space, uint64_t offset, uint8_t value, uint64_t bytes) {
  while (bytes) {
    struct run run;
    int error = run_at(space, offset, bytes, value != 0, &run);

    if (error) return error;
    if (run.at) memset(run.at, value, run.bytes);
    offset += run.bytes;
    bytes -= run.bytes;
  }
  wmb();
  return 0;
}

/* The runs at the front of both ranges, equally long. */
static int front(struct nds_space* to, u64 to_offset, struct nds_space* from, u64 from_offset,
                 u64 bytes, struct run* sink, struct run* source) {
  int error = run_at(from, from_offset, bytes, false, source);

  if (!error) error = run_at(to, to_offset, source->bytes, source->at != NULL, sink);
  if (!error) source->bytes = sink->bytes;
  return error;
}

/* A range that overlaps its source from above is moved in pieces from the end. */
static int copy_backwards(struct nds_space* space, u64 to, u64 from, u64 bytes) {
  u8 piece[256];

  while (bytes) {
    size_t length = min_t(u64, bytes, sizeof piece);
    int error = nds_os_space_read(space, from + bytes - length, piece, length);

    if (!error) error = nds_os_space_write(space, to + bytes - length, piece, length);
    if (error) return error;
    bytes -= length;
  }
  return 0;
}

int nds_os_space_copy(struct nds_space* to, uint64_t to_offset, struct nds_space* from,
                      uint64_t from_offset, uint64_t bytes) {
  if (to == from && to_offset > from_offset && to_offset - from_offset < bytes)
    return copy_backwards(to, to_offset, from_offset, bytes);
  while (bytes) {
    struct run sink, source;
    int error = front(to, to_offset, from, from_offset, bytes, &sink, &source);

    if (error) return error;
    if (source.at)
      memmove(sink.at, source.at, source.bytes);
    else if (sink.at)
      memset(sink.at, 0, sink.bytes);
    to_offset += sink.bytes;
    from_offset += sink.bytes;
    bytes -= sink.bytes;
  }
  wmb();
  return 0;
}

/* For users of device nodes, of which this host has none. */
int nds_os_space_from_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                           uint64_t* uncopied) {
  *uncopied = bytes;
  return 0;
}

int nds_os_space_to_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                         uint64_t* uncopied) {
  *uncopied = bytes;
  return 0;
}
