/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The device model's own structs and the functions its files call on each other.
 *
 * Locks, in this order: machine lock, device lock, DMA lock. The device lock guards files, pools,
 * handles, chunks and core state; the DMA lock guards engines and queues. Bytes in spaces are
 * guarded by nothing, as on the real device: copies pin the chunk and run without a lock.
 */
#ifndef NDS_INTERNAL_H
#define NDS_INTERNAL_H

#include "nds.h"
#include "nds_chunk.h"
#include "nds_dma.h"
#include "nds_handle.h"
#include "nds_os.h"
#include "nds_pool.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"
#include "neuron_abi/udma.h"

#define NDS_MAX_HBMS 4u
#define NDS_ENOTSUPP 524 /* the kernel's, unknown to user space */

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
  const struct nds_profile* profile;
  nds_mutex_t lock;
  struct nds_hbm hbm[NDS_MAX_HBMS];
  struct nds_space* host_space; /* offset = bus address */
  struct nds_pool host_pool;
  struct nds_handle_table handles;
  struct nds_chunk_index chunks;
  struct nds_attach_slot slots[NEURON_MAX_ATTACHED_PROCESSES];
  uint32_t open_files;
  struct nds_counters counters;
  struct nds_dma dma;
};

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
long nds_put(const struct nds_call* call, const void* argument, size_t bytes);
long nds_put_at(const struct nds_call* call, uint64_t user, const void* value, size_t bytes);

/* nds_file.c; needs the device lock */
bool nds_is_attached(const struct nds_device* device, int32_t tgid);

/* Handlers: the return value is the ioctl's. */
typedef long (*nds_handler)(struct nds_call* call);

/* nds_ident.c */
long nds_device_info(struct nds_call* call);
long nds_device_basic_info(struct nds_call* call);
long nds_driver_info(struct nds_call* call);
long nds_compatible_version(struct nds_call* call);

/* nds_mem_ioctl.c */
long nds_mem_alloc(struct nds_call* call);
long nds_mem_alloc_v2(struct nds_call* call);
long nds_mem_alloc_v2mt(struct nds_call* call);
long nds_mem_alloc_v2mt64(struct nds_call* call);
long nds_mem_free(struct nds_call* call);
long nds_mem_get_pa(struct nds_call* call);
long nds_mem_get_info(struct nds_call* call);
long nds_mem_get_extended_info(struct nds_call* call);
long nds_mem_mc_get_info(struct nds_call* call);

/* nds_copy_ioctl.c */
long nds_mem_buf_copy(struct nds_call* call);
long nds_mem_buf_copy64(struct nds_call* call);
long nds_mem_buf_zerocopy64(struct nds_call* call);
long nds_mem_copy(struct nds_call* call);
long nds_mem_copy64(struct nds_call* call);
long nds_memset(struct nds_call* call);
long nds_memset64(struct nds_call* call);
/*
 * Copies between two handles: 0, -EINVAL or -ENOMEM. Bounds are checked for the whole size, but at
 * most `limit` bytes are moved.
 */
long nds_copy_between(struct nds_device* device, const struct neuron_mem_copy64* argument,
                      uint64_t limit);

/* nds_dma_ioctl.c */
long nds_dma_queue_init(struct nds_call* call);
long nds_dma_queue_init_batch(struct nds_call* call);
long nds_dma_queue_get_state(struct nds_call* call);

/* nds_desc_ioctl.c */
long nds_dma_copy_descriptors(struct nds_call* call);
long nds_dma_copy_descriptors64(struct nds_call* call);
long nds_dma_descriptor_copyout(struct nds_call* call);

/* nds_marks.c */
long nds_range_mark(struct nds_call* call);
long nds_range_unmark(struct nds_call* call);
void nds_marks_drop(struct nds_machine* machine, int32_t tgid);

#endif
