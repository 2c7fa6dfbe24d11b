/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The device model's own structs and the functions its files call on each other.
 *
 * Locks, in this order: machine lock, device lock, DMA lock, events lock. The device lock guards
 * files, pools, handles, chunks and core state; the DMA lock guards engines, queues and registers.
 * Bytes in spaces are guarded by nothing, as on the real device: copies pin the chunk and run
 * without a lock.
 */
#ifndef NDS_INTERNAL_H
#define NDS_INTERNAL_H

#include "nds.h"
#include "nds_bus.h"
#include "nds_chunk.h"
#include "nds_core.h"
#include "nds_dma.h"
#include "nds_exec.h"
#include "nds_facts.h"
#include "nds_handle.h"
#include "nds_handlers.h"
#include "nds_os.h"
#include "nds_pool.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/execution.h"
#include "neuron_abi/instruction.h"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

#define NDS_MAX_HBMS 4u
#define NDS_ENOTSUPP 524           /* the kernel's, unknown to user space */
#define NDS_HOST_END 0xF0000000ull /* bus addresses of the device's host memory end here */

/* What differs between architectures; see nds_profile.c. */
struct nds_profile {
  uint32_t architecture;
  uint32_t cores;
  uint32_t hbm_count;
  uint64_t hbm_bytes;
  uint64_t hbm_base[NDS_MAX_HBMS];
  uint64_t host_base;
  uint64_t host_mask;
  uint32_t dma_engines;
  uint32_t first_copy_engine;
  uint32_t topsps;
  uint32_t topsps_per_core;
  uint64_t bar0_bytes;
  uint32_t compatible_min;
  uint32_t compatible_max;
};

struct nds_hbm {
  struct nds_space* space;
  struct nds_pool main;
  struct nds_pool small;
  uint64_t base;
  uint64_t bytes;
  uint64_t contiguous_bytes; /* live type-19 bytes: they decide where the next one goes */
};

struct nds_attach_slot {
  int32_t tgid; /* 0 = free */
  uint32_t opens;
};

struct nds_device {
  struct nds_machine* machine;
  struct nds_config config;
  struct nds_profile own_profile;
  const struct nds_profile* profile; /* the one above, not to be written */
  nds_mutex_t lock;
  struct nds_hbm hbm[NDS_MAX_HBMS];
  struct nds_space* host_space; /* offset = bus address */
  struct nds_pool host_pool;
  struct nds_handle_table handles;
  struct nds_chunk_index chunks;
  struct nds_attach_slot slots[NEURON_MAX_ATTACHED_PROCESSES];
  uint32_t open_files;
  uint32_t silent; /* NDS_SILENT_...; a word, read without a lock */
  struct nds_counters counters;
  struct nds_dma dma;
  struct nds_exec exec;
  struct nds_window windows[NDS_MAX_WINDOWS]; /* the cores first */
  uint32_t window_count;
  uint32_t first_topsp_window;
  uint32_t topsps_per_die;
  struct nds_space* bar0_space; /* registers that only remember */
  nds_mutex_t events_lock;
  struct nds_core cores[NEURON_MAX_CORES_PER_DEVICE];
  struct nds_nq_set topsp_nq[NDS_MAX_TOPSPS];
  struct nds_reset_request* resets;
  struct nds_data_store stores[NDS_DATA_STORES];
  struct nds_facts facts;
};

static inline bool nds_is_v2(const struct nds_device* device) {
  return device->profile->architecture == NEURON_ARCH_V2;
}

struct nds_file {
  struct nds_device* device;
  bool free_access;
};

struct nds_machine {
  nds_mutex_t lock;
  struct nds_device* devices[NEURON_MAX_DEVICES];
  int32_t core_owner[NEURON_MAX_CORE_MARKS]; /* tgid, 0 = free */
};

/* One ioctl in progress. */
struct nds_call {
  struct nds_device* device;
  int32_t tgid;
  uint32_t command;
  uint64_t argument; /* user address of the struct */
};

/* nds_profile.c */
const struct nds_profile* nds_profile_of(uint32_t architecture);

/* nds_call.c: moving argument structs. All return 0 or what the handler must return. */
long nds_fault(const struct nds_call* call, uint64_t uncopied);
long nds_get(const struct nds_call* call, void* argument, size_t bytes);
/*
 * For calls that change something and then answer into their argument: writes it back as it is
 * first, so that nothing has happened when the answer cannot be given. [ours] The real driver
 * answers the same, but has made the change.
 */
long nds_get_for_reply(const struct nds_call* call, void* argument, size_t bytes);
long nds_put(const struct nds_call* call, const void* argument, size_t bytes);
long nds_put_at(const struct nds_call* call, uint64_t user, const void* value, size_t bytes);

/* nds_device.c: whether a part of the device does not answer */
bool nds_is_silent(const struct nds_device* device, uint32_t part);

/* nds_file.c; needs the device lock */
bool nds_is_attached(const struct nds_device* device, int32_t tgid);

/* nds_copy_ioctl.c */
/*
 * Copies between two handles: 0, -EINVAL or -ENOMEM. Bounds are checked for the whole size, but at
 * most `limit` bytes are moved.
 */
long nds_copy_between(struct nds_device* device, const struct neuron_mem_copy64* argument,
                      uint64_t limit);

/* nds_marks.c */
void nds_marks_drop(struct nds_machine* machine, int32_t tgid);

/* nds_bar_ioctl.c: the opaque address of the register BAR */
uint64_t nds_bar0_address(const struct nds_device* device);

/* nds_bar.c: where things are in the register BAR, and its registers, at word-aligned offsets */
uint64_t nds_bar_misc_ram(const struct nds_device* device);
uint64_t nds_bar_core(const struct nds_device* device, uint32_t core);
uint64_t nds_bar_topsp(const struct nds_device* device, uint32_t topsp);
uint64_t nds_bar_core_notific(const struct nds_device* device, uint32_t core);
uint64_t nds_bar_dma_engine(const struct nds_device* device, uint32_t engine);
/* The engine whose registers hold an offset, which becomes one of the engine's, or the number of
 * engines. */
uint32_t nds_bar_engine_at(const struct nds_device* device, uint64_t offset, uint32_t* reg);
/* 0, -EFAULT (nothing is there, as behind the end of the BAR) or -ENOMEM. Both need the DMA lock.
 */
int nds_bar_read_register(struct nds_device* device, uint64_t offset, uint32_t* value);
int nds_bar_write_register(struct nds_device* device, uint64_t offset, uint32_t value);

/* nds_bus.c */
uint64_t nds_tpb_base(const struct nds_device* device, uint32_t core);
/* Offset of the event unit in a core's aperture. */
uint64_t nds_tpb_events(const struct nds_device* device);
const struct nds_window* nds_topsp_window(const struct nds_device* device, uint32_t topsp);

/* nds_resource.c: a special mapping with exactly this offset and length; false if there is none */
struct nds_resource {
  struct nds_space* space;
  uint64_t space_offset;
  uint64_t mmap_offset;
  uint64_t bytes;
  bool read_only;
};
bool nds_resource_at(const struct nds_device* device, uint64_t offset, uint64_t bytes,
                     struct nds_resource* out);

#endif
