/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Argument structs of the memory and copy commands. Include neuron_abi/ioctl.h. */
#ifndef NEURON_ABI_IOCTL_MEMORY_H
#define NEURON_ABI_IOCTL_MEMORY_H

#include "neuron_abi/types.h"

/* MEM_ALLOC. */
struct neuron_mem_alloc {
  uint64_t size;
  uint32_t host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint32_t nc_id;
  uint64_t mem_handle_ptr;
};
NEURON_ABI_SIZE(struct neuron_mem_alloc, 32);
NEURON_ABI_FIELD(struct neuron_mem_alloc, host_memory, 8);
NEURON_ABI_FIELD(struct neuron_mem_alloc, dram_channel, 12);
NEURON_ABI_FIELD(struct neuron_mem_alloc, dram_region, 16);
NEURON_ABI_FIELD(struct neuron_mem_alloc, nc_id, 20);
NEURON_ABI_FIELD(struct neuron_mem_alloc, mem_handle_ptr, 24);

/* MEM_FREE. */
struct neuron_mem_free {
  uint64_t mem_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_free, 8);

/* MEM_COPY. */
struct neuron_mem_copy {
  uint64_t src_mem_handle;
  uint64_t dst_mem_handle;
  uint32_t size;
  uint32_t src_offset;
  uint32_t dst_offset;
};
NEURON_ABI_SIZE(struct neuron_mem_copy, 32);
NEURON_ABI_FIELD(struct neuron_mem_copy, dst_mem_handle, 8);
NEURON_ABI_FIELD(struct neuron_mem_copy, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_copy, src_offset, 20);
NEURON_ABI_FIELD(struct neuron_mem_copy, dst_offset, 24);

/* MEM_COPY64. */
struct neuron_mem_copy64 {
  uint64_t src_mem_handle;
  uint64_t dst_mem_handle;
  uint64_t size;
  uint64_t src_offset;
  uint64_t dst_offset;
};
NEURON_ABI_SIZE(struct neuron_mem_copy64, 40);
NEURON_ABI_FIELD(struct neuron_mem_copy64, dst_mem_handle, 8);
NEURON_ABI_FIELD(struct neuron_mem_copy64, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_copy64, src_offset, 24);
NEURON_ABI_FIELD(struct neuron_mem_copy64, dst_offset, 32);

/* MEM_COPY64 of driver 2.30: the older form with a sequence number and a context behind it. */
struct neuron_mem_copy64_v30 {
  struct neuron_mem_copy64 copy;
  uint64_t sequence;
  uint64_t context;
};
NEURON_ABI_SIZE(struct neuron_mem_copy64_v30, 56);
NEURON_ABI_FIELD(struct neuron_mem_copy64_v30, sequence, 40);
NEURON_ABI_FIELD(struct neuron_mem_copy64_v30, context, 48);

/* MEM_BUF_COPY; copy_to_mem_handle != 0: buffer -> chunk. */
struct neuron_mem_buf_copy {
  uint64_t mem_handle;
  uint64_t buffer_ptr;
  uint32_t size;
  uint32_t offset;
  uint32_t copy_to_mem_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_buf_copy, 32);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy, offset, 20);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy, copy_to_mem_handle, 24);

/* MEM_BUF_COPY64 and the 2.24 form of MEM_BUF_ZEROCOPY64. */
struct neuron_mem_buf_copy64 {
  uint64_t mem_handle;
  uint64_t buffer_ptr;
  uint64_t size;
  uint64_t offset;
  uint32_t copy_to_mem_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_buf_copy64, 40);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy64, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy64, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy64, offset, 24);
NEURON_ABI_FIELD(struct neuron_mem_buf_copy64, copy_to_mem_handle, 32);

/* MEM_BUF_ZEROCOPY64 of driver 2.27. */
struct neuron_mem_buf_zerocopy64_v27 {
  uint64_t mem_handle;
  uint64_t buffer_ptr;
  uint64_t size;
  uint64_t offset;
  uint32_t is_copy_to_device;
  uint32_t bar4_wr_threshold;
  int32_t h2t_qid;
  uint32_t pad;
};
NEURON_ABI_SIZE(struct neuron_mem_buf_zerocopy64_v27, 48);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, offset, 24);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, is_copy_to_device, 32);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, bar4_wr_threshold, 36);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, h2t_qid, 40);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v27, pad, 44);

/* MEM_BUF_ZEROCOPY64 of driver 2.30. */
struct neuron_mem_buf_zerocopy64_v30 {
  uint64_t mem_handle;
  uint64_t buffer_ptr;
  uint64_t size;
  uint64_t offset;
  uint32_t is_copy_to_device;
  uint32_t bar4_wr_threshold;
  int32_t h2t_qid;
  uint32_t pad;
  uint64_t sequence;
  uint64_t context;
};
NEURON_ABI_SIZE(struct neuron_mem_buf_zerocopy64_v30, 64);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, offset, 24);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, is_copy_to_device, 32);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, bar4_wr_threshold, 36);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, h2t_qid, 40);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, pad, 44);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, sequence, 48);
NEURON_ABI_FIELD(struct neuron_mem_buf_zerocopy64_v30, context, 56);

/* MEM_GET_PA. */
struct neuron_mem_get_pa {
  uint64_t mem_handle;
  uint64_t pa_ptr;
};
NEURON_ABI_SIZE(struct neuron_mem_get_pa, 16);
NEURON_ABI_FIELD(struct neuron_mem_get_pa, pa_ptr, 8);

/* MEM_GET_INFO. */
struct neuron_mem_get_info {
  uint64_t mem_handle;
  uint64_t mmap_offset_ptr;
  uint64_t pa_ptr;
};
NEURON_ABI_SIZE(struct neuron_mem_get_info, 24);
NEURON_ABI_FIELD(struct neuron_mem_get_info, mmap_offset_ptr, 8);
NEURON_ABI_FIELD(struct neuron_mem_get_info, pa_ptr, 16);

/* PROGRAM_ENGINE; dst = absolute device address. */
struct neuron_program_engine {
  uint64_t dst;
  uint64_t buffer_ptr;
  uint32_t size;
  uint32_t offset;
};
NEURON_ABI_SIZE(struct neuron_program_engine, 24);
NEURON_ABI_FIELD(struct neuron_program_engine, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_program_engine, size, 16);
NEURON_ABI_FIELD(struct neuron_program_engine, offset, 20);

/* MEMSET; only the low byte of value is used. */
struct neuron_memset {
  uint64_t mem_handle;
  uint64_t offset;
  uint32_t value;
  uint32_t size;
};
NEURON_ABI_SIZE(struct neuron_memset, 24);
NEURON_ABI_FIELD(struct neuron_memset, offset, 8);
NEURON_ABI_FIELD(struct neuron_memset, value, 16);
NEURON_ABI_FIELD(struct neuron_memset, size, 20);

/* MEMSET64. */
struct neuron_memset64 {
  uint64_t mem_handle;
  uint64_t offset;
  uint32_t value;
  uint64_t size;
};
NEURON_ABI_SIZE(struct neuron_memset64, 32);
NEURON_ABI_FIELD(struct neuron_memset64, offset, 8);
NEURON_ABI_FIELD(struct neuron_memset64, value, 16);
NEURON_ABI_FIELD(struct neuron_memset64, size, 24);

/* MEM_GET_EXTENDED_INFO. */
struct neuron_mem_get_extended_info {
  uint64_t mem_handle;
  uint32_t version;
  uint32_t host_memory;
  uint64_t mmap_offset;
  uint64_t pa;
  int32_t pid;
  uint64_t size;
};
NEURON_ABI_SIZE(struct neuron_mem_get_extended_info, 48);
NEURON_ABI_FIELD(struct neuron_mem_get_extended_info, version, 8);
NEURON_ABI_FIELD(struct neuron_mem_get_extended_info, host_memory, 12);
NEURON_ABI_FIELD(struct neuron_mem_get_extended_info, mmap_offset, 16);
NEURON_ABI_FIELD(struct neuron_mem_get_extended_info, pa, 24);
NEURON_ABI_FIELD(struct neuron_mem_get_extended_info, pid, 32);
NEURON_ABI_FIELD(struct neuron_mem_get_extended_info, size, 40);

/* MEM_ALLOC_V2. */
struct neuron_mem_alloc_v2 {
  uint64_t size;
  uint64_t align;
  uint32_t host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint32_t nc_id;
  uint64_t mem_handle_ptr;
};
NEURON_ABI_SIZE(struct neuron_mem_alloc_v2, 40);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2, align, 8);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2, host_memory, 16);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2, dram_channel, 20);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2, dram_region, 24);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2, nc_id, 28);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2, mem_handle_ptr, 32);

/* MEM_ALLOC_V2MT. */
struct neuron_mem_alloc_v2mt {
  uint64_t size;
  uint64_t align;
  uint32_t host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint32_t nc_id;
  uint32_t mem_type;
  uint64_t mem_handle_ptr;
};
NEURON_ABI_SIZE(struct neuron_mem_alloc_v2mt, 48);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, align, 8);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, host_memory, 16);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, dram_channel, 20);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, dram_region, 24);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, nc_id, 28);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, mem_type, 32);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt, mem_handle_ptr, 40);

/* MEM_ALLOC_V2MT64; the u64 handle is stored through mem_handle_ptr. */
struct neuron_mem_alloc_v2mt64 {
  uint64_t size;
  uint64_t align;
  uint32_t host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint32_t nc_id;
  uint32_t mem_type;
  uint64_t mem_handle_ptr;
  uint32_t pad;
};
NEURON_ABI_SIZE(struct neuron_mem_alloc_v2mt64, 56);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, align, 8);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, host_memory, 16);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, dram_channel, 20);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, dram_region, 24);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, nc_id, 28);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, mem_type, 32);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, mem_handle_ptr, 40);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64, pad, 48);

/* MEM_ALLOC_V2MT64_PA (driver 2.30). */
struct neuron_mem_alloc_v2mt64_pa {
  uint64_t size;
  uint64_t align;
  uint32_t host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint32_t nc_id;
  uint32_t mem_type;
  uint64_t mem_handle_ptr;
  uint32_t pad;
  uint64_t pa;
};
NEURON_ABI_SIZE(struct neuron_mem_alloc_v2mt64_pa, 64);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, align, 8);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, host_memory, 16);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, dram_channel, 20);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, dram_region, 24);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, nc_id, 28);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, mem_type, 32);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, mem_handle_ptr, 40);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, pad, 48);
NEURON_ABI_FIELD(struct neuron_mem_alloc_v2mt64_pa, pa, 56);

/* PROGRAM_ENGINE_NC. */
struct neuron_program_engine_nc {
  uint32_t nc_id;
  uint64_t dst;
  uint64_t buffer_ptr;
  uint32_t size;
  uint32_t offset;
};
NEURON_ABI_SIZE(struct neuron_program_engine_nc, 32);
NEURON_ABI_FIELD(struct neuron_program_engine_nc, dst, 8);
NEURON_ABI_FIELD(struct neuron_program_engine_nc, buffer_ptr, 16);
NEURON_ABI_FIELD(struct neuron_program_engine_nc, size, 24);
NEURON_ABI_FIELD(struct neuron_program_engine_nc, offset, 28);

/* PROGRAM_ENGINE_NC64. */
struct neuron_program_engine_nc64 {
  uint32_t nc_id;
  uint64_t dst;
  uint64_t buffer_ptr;
  uint64_t size;
  uint64_t offset;
};
NEURON_ABI_SIZE(struct neuron_program_engine_nc64, 40);
NEURON_ABI_FIELD(struct neuron_program_engine_nc64, dst, 8);
NEURON_ABI_FIELD(struct neuron_program_engine_nc64, buffer_ptr, 16);
NEURON_ABI_FIELD(struct neuron_program_engine_nc64, size, 24);
NEURON_ABI_FIELD(struct neuron_program_engine_nc64, offset, 32);

/* DMABUF_FD. */
struct neuron_dmabuf_fd {
  uint64_t va;
  uint64_t size;
  uint64_t fd_ptr;
};
NEURON_ABI_SIZE(struct neuron_dmabuf_fd, 24);
NEURON_ABI_FIELD(struct neuron_dmabuf_fd, size, 8);
NEURON_ABI_FIELD(struct neuron_dmabuf_fd, fd_ptr, 16);

/* MEM_COPY_ASYNC. */
struct neuron_mem_copy_async {
  uint64_t src_mem_handle;
  uint64_t dst_mem_handle;
  uint32_t size;
  uint32_t src_offset;
  uint32_t dst_offset;
  uint64_t host_prefetch_addr;
  int32_t pwait_handle;
  int32_t wait_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_copy_async, 48);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, dst_mem_handle, 8);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, src_offset, 20);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, dst_offset, 24);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, host_prefetch_addr, 32);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, pwait_handle, 40);
NEURON_ABI_FIELD(struct neuron_mem_copy_async, wait_handle, 44);

/* MEM_COPY_ASYNC64. */
struct neuron_mem_copy_async64 {
  uint64_t src_mem_handle;
  uint64_t dst_mem_handle;
  uint64_t size;
  uint64_t src_offset;
  uint64_t dst_offset;
  uint64_t host_prefetch_addr;
  int32_t pwait_handle;
  int32_t wait_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_copy_async64, 56);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, dst_mem_handle, 8);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, src_offset, 24);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, dst_offset, 32);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, host_prefetch_addr, 40);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, pwait_handle, 48);
NEURON_ABI_FIELD(struct neuron_mem_copy_async64, wait_handle, 52);

/* MEM_COPY_ASYNC_WAIT. */
struct neuron_mem_copy_async_wait {
  uint64_t src_mem_handle;
  uint64_t dst_mem_handle;
  int32_t pwait_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_copy_async_wait, 24);
NEURON_ABI_FIELD(struct neuron_mem_copy_async_wait, dst_mem_handle, 8);
NEURON_ABI_FIELD(struct neuron_mem_copy_async_wait, pwait_handle, 16);

/* MEM_MC_GET_INFO. */
struct neuron_mem_mc_get_info {
  uint64_t pa;
  uint64_t mmap_offset;
  uint64_t size;
};
NEURON_ABI_SIZE(struct neuron_mem_mc_get_info, 24);
NEURON_ABI_FIELD(struct neuron_mem_mc_get_info, mmap_offset, 8);
NEURON_ABI_FIELD(struct neuron_mem_mc_get_info, size, 16);

/* MEM_MC_GET_INFO_V2. */
struct neuron_mem_mc_get_info_v2 {
  uint64_t pa;
  uint64_t mmap_offset;
  uint64_t size;
  uint64_t mem_handle;
};
NEURON_ABI_SIZE(struct neuron_mem_mc_get_info_v2, 32);
NEURON_ABI_FIELD(struct neuron_mem_mc_get_info_v2, mmap_offset, 8);
NEURON_ABI_FIELD(struct neuron_mem_mc_get_info_v2, size, 16);
NEURON_ABI_FIELD(struct neuron_mem_mc_get_info_v2, mem_handle, 24);

/* RESOURCE_MMAP_INFO. */
struct neuron_resource_mmap_info {
  uint32_t block;
  uint32_t block_id;
  uint32_t resource;
  uint64_t offset;
  uint64_t size;
};
NEURON_ABI_SIZE(struct neuron_resource_mmap_info, 32);
NEURON_ABI_FIELD(struct neuron_resource_mmap_info, block_id, 4);
NEURON_ABI_FIELD(struct neuron_resource_mmap_info, resource, 8);
NEURON_ABI_FIELD(struct neuron_resource_mmap_info, offset, 16);
NEURON_ABI_FIELD(struct neuron_resource_mmap_info, size, 24);

/* one record of DUMP_MEM_CHUNKS. */
struct neuron_mem_chunk_info {
  uint64_t pa;
  uint64_t size;
  uint32_t mem_type;
};
NEURON_ABI_SIZE(struct neuron_mem_chunk_info, 24);
NEURON_ABI_FIELD(struct neuron_mem_chunk_info, size, 8);
NEURON_ABI_FIELD(struct neuron_mem_chunk_info, mem_type, 16);

/* DUMP_MEM_CHUNKS. */
struct neuron_dump_mem_chunks {
  uint32_t hbm_index;
  uint32_t num_entries_in;
  uint32_t num_entries_out;
  uint64_t data_ptr;
};
NEURON_ABI_SIZE(struct neuron_dump_mem_chunks, 24);
NEURON_ABI_FIELD(struct neuron_dump_mem_chunks, num_entries_in, 4);
NEURON_ABI_FIELD(struct neuron_dump_mem_chunks, num_entries_out, 8);
NEURON_ABI_FIELD(struct neuron_dump_mem_chunks, data_ptr, 16);

/* HBM_SCRUB_START. */
struct neuron_hbm_scrub_start {
  uint32_t nc_id;
  uint32_t hbm_index;
  uint32_t axi_port;
  uint32_t init_val;
};
NEURON_ABI_SIZE(struct neuron_hbm_scrub_start, 16);
NEURON_ABI_FIELD(struct neuron_hbm_scrub_start, hbm_index, 4);
NEURON_ABI_FIELD(struct neuron_hbm_scrub_start, axi_port, 8);
NEURON_ABI_FIELD(struct neuron_hbm_scrub_start, init_val, 12);

/* HBM_SCRUB_WAIT. */
struct neuron_hbm_scrub_wait {
  uint32_t nc_id;
  uint32_t hbm_index;
};
NEURON_ABI_SIZE(struct neuron_hbm_scrub_wait, 8);
NEURON_ABI_FIELD(struct neuron_hbm_scrub_wait, hbm_index, 4);

#endif
