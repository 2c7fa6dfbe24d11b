/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Commands, argument structs and enumerations of the Neuron driver's ioctl interface (spec 06
 * section 3), in our own words. x86-64 layout, little-endian.
 *
 * A command is compared as a full 32-bit value: several numbers are shared by siblings that differ
 * only in size or direction, and many commands encode size 8 (a pointer's) although the argument
 * is the struct itself. Never compute a value with _IOW from the struct's size.
 *
 * Fields named *_ptr hold a user-space address as an integer: the driver reads or writes through
 * it. Sizes and offsets are bytes, *_pa and pa are device physical addresses. A result other than 0
 * is a failure, positive ones included (spec 06 section 2).
 */
#ifndef NEURON_ABI_IOCTL_H
#define NEURON_ABI_IOCTL_H

#include "neuron_abi/types.h"

/* Parts of a command value. */
#define NEURON_IOCTL_TYPE 0x4Eu
#define NEURON_IOCTL_NR(command) ((command)&0xFFu)
#define NEURON_IOCTL_TYPE_OF(command) (((command) >> 8) & 0xFFu)
#define NEURON_IOCTL_SIZE_OF(command) (((command) >> 16) & 0x3FFFu)
#define NEURON_IOCTL_DIR_OF(command) ((command) >> 30)
#define NEURON_IOCTL_DIR_WRITE 1u
#define NEURON_IOCTL_DIR_READ 2u

/* Commands, by number. _V27 and _V30 forms appeared with driver 2.27 and 2.30. */
#define NEURON_IOCTL_DEVICE_RESET 0x00004E01u
#define NEURON_IOCTL_DEVICE_READY 0x80014E02u
#define NEURON_IOCTL_DEVICE_INFO 0x80084E03u
#define NEURON_IOCTL_DEVICE_INIT 0x80084E04u
#define NEURON_IOCTL_DEVICE_RELEASE 0x00004E05u
#define NEURON_IOCTL_DEVICE_APP_PID 0x80044E06u
#define NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO 0x80084E07u
#define NEURON_IOCTL_BAR_READ 0x80084E0Bu
#define NEURON_IOCTL_BAR_WRITE 0x40084E0Cu
#define NEURON_IOCTL_POST_METRIC 0x40084E0Du
#define NEURON_IOCTL_MEM_ALLOC 0x80084E15u
#define NEURON_IOCTL_MEM_FREE 0x80084E16u
#define NEURON_IOCTL_MEM_COPY 0x80084E17u
#define NEURON_IOCTL_MEM_COPY64 0x80284E17u
#define NEURON_IOCTL_MEM_BUF_COPY 0xC0084E18u
#define NEURON_IOCTL_MEM_BUF_COPY64 0xC0284E18u
#define NEURON_IOCTL_MEM_GET_PA 0x80084E19u
#define NEURON_IOCTL_MEM_GET_INFO 0x80084E1Au
#define NEURON_IOCTL_PROGRAM_ENGINE 0xC0084E1Bu
#define NEURON_IOCTL_MEMSET 0x80084E1Cu
#define NEURON_IOCTL_MEMSET64 0x80204E1Cu
#define NEURON_IOCTL_MEM_GET_EXTENDED_INFO 0x80084E1Du
#define NEURON_IOCTL_DMA_ENG_INIT 0x80084E1Eu
#define NEURON_IOCTL_DMA_ENG_SET_STATE 0x80084E1Fu
#define NEURON_IOCTL_DMA_ENG_GET_STATE 0xC0084E20u
#define NEURON_IOCTL_DMA_QUEUE_INIT 0x80084E21u
#define NEURON_IOCTL_DMA_QUEUE_RELEASE 0x80084E22u
#define NEURON_IOCTL_DMA_QUEUE_COPY_START 0x80084E23u
#define NEURON_IOCTL_DMA_ACK_COMPLETED 0x80084E24u
#define NEURON_IOCTL_DMA_QUEUE_GET_STATE 0xC0084E25u
#define NEURON_IOCTL_DMA_COPY_DESCRIPTORS 0x80084E26u
#define NEURON_IOCTL_DMA_COPY_DESCRIPTORS64 0x80284E26u
#define NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT 0xC0084E27u
#define NEURON_IOCTL_DMA_QUIESCE_QUEUES 0x80084E28u
#define NEURON_IOCTL_SEMAPHORE_INCREMENT 0x80084E29u
#define NEURON_IOCTL_SEMAPHORE_DECREMENT 0x80084E2Au
#define NEURON_IOCTL_SEMAPHORE_READ 0xC0084E2Bu
#define NEURON_IOCTL_SEMAPHORE_WRITE 0x80084E2Cu
#define NEURON_IOCTL_EVENT_SET 0x80084E2Du
#define NEURON_IOCTL_EVENT_GET 0xC0084E2Eu
#define NEURON_IOCTL_NOTIFICATIONS_INIT_V1 0x80084E33u
#define NEURON_IOCTL_NOTIFICATIONS_DESTROY_V1 0x80084E34u
#define NEURON_IOCTL_NOTIFICATIONS_INIT_V2 0x80084E35u
#define NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2 0x80084E36u
#define NEURON_IOCTL_NOTIFICATIONS_QUEUE_INFO 0x80084E3Au
#define NEURON_IOCTL_READ_HW_COUNTERS 0x80084E3Du
#define NEURON_IOCTL_ACQUIRE_NEURON_DS 0x80084E47u
#define NEURON_IOCTL_RELEASE_NEURON_DS 0x80084E48u
#define NEURON_IOCTL_CRWL_READER_ENTER 0x40084E51u
#define NEURON_IOCTL_CRWL_READER_EXIT 0x40084E52u
#define NEURON_IOCTL_CRWL_WRITER_ENTER 0x40084E53u
#define NEURON_IOCTL_CRWL_WRITER_DOWNGRADE 0x40084E54u
#define NEURON_IOCTL_CRWL_NC_RANGE_MARK 0x40084E55u
#define NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0 0xC0504E55u
#define NEURON_IOCTL_CRWL_NC_RANGE_UNMARK 0x40084E56u
#define NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0 0x40504E56u
#define NEURON_IOCTL_CINIT_SET_STATE 0x40084E5Bu
#define NEURON_IOCTL_NC_MODEL_STARTED_COUNT 0x40084E5Cu
#define NEURON_IOCTL_COMPATIBLE_VERSION 0x40084E5Du
#define NEURON_IOCTL_DEVICE_BASIC_INFO 0x40084E64u
#define NEURON_IOCTL_DEVICE_BDF 0x80084E65u
#define NEURON_IOCTL_MEM_ALLOC_V2 0x80084E66u
#define NEURON_IOCTL_MEM_ALLOC_V2MT 0x80304E66u
#define NEURON_IOCTL_MEM_ALLOC_V2MT64 0x80384E66u
#define NEURON_IOCTL_MEM_ALLOC_V2MT64_PA 0xC0404E66u
#define NEURON_IOCTL_NC_RESET 0x80084E67u
#define NEURON_IOCTL_NC_RESET_READY 0x80084E68u
#define NEURON_IOCTL_PROGRAM_ENGINE_NC 0xC0084E69u
#define NEURON_IOCTL_PROGRAM_ENGINE_NC64 0xC0284E69u
#define NEURON_IOCTL_DEVICE_RESET_STATUS 0x80014E6Au
#define NEURON_IOCTL_DEVICE_BDF_EXT 0x80084E6Au
#define NEURON_IOCTL_DMABUF_FD 0x80084E6Bu
#define NEURON_IOCTL_MEM_COPY_ASYNC 0xC0304E6Cu
#define NEURON_IOCTL_MEM_COPY_ASYNC64 0xC0384E6Cu
#define NEURON_IOCTL_MEM_COPY_ASYNC_WAIT 0x40184E6Du
#define NEURON_IOCTL_DRIVER_INFO_GET 0x80184E6Eu
#define NEURON_IOCTL_DRIVER_INFO_SET 0x40184E6Eu
#define NEURON_IOCTL_MEM_MC_GET_INFO 0xC0184E6Fu
#define NEURON_IOCTL_MEM_MC_GET_INFO_V2 0xC0204E6Fu
#define NEURON_IOCTL_RESOURCE_MMAP_INFO 0xC0204E70u
#define NEURON_IOCTL_PRINTK 0x40104E71u
#define NEURON_IOCTL_HOST_DEVICE_ID 0x80044E72u
#define NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP 0xC1044E73u
#define NEURON_IOCTL_DUMP_MEM_CHUNKS 0x80084E74u
#define NEURON_IOCTL_NC_PID_STATE_DUMP 0xC0104E75u
#define NEURON_IOCTL_HBM_SCRUB_START 0xC0104E76u
#define NEURON_IOCTL_HBM_SCRUB_WAIT 0xC0084E77u
#define NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP 0xC0104E78u
#define NEURON_IOCTL_POD_INFO 0xC1044E79u
#define NEURON_IOCTL_POD_STATUS 0xC10C4E7Au
#define NEURON_IOCTL_POD_STATUS_V2 0xC1144E7Au
#define NEURON_IOCTL_POD_CTRL 0xC0104E7Bu
#define NEURON_IOCTL_POD_CTRL_V2 0xC0144E7Bu
#define NEURON_IOCTL_MEM_BUF_ZEROCOPY64 0xC0284E7Cu
#define NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V27 0xC0304E7Cu
#define NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V30 0xC0404E7Cu
#define NEURON_IOCTL_H2T_DMA_ALLOC_QUEUES 0xC0144E7Du
#define NEURON_IOCTL_H2T_DMA_FREE_QUEUES 0xC0084E7Eu
#define NEURON_IOCTL_POWER_PROFILE 0x40084E7Fu
#define NEURON_IOCTL_METRICS_CTRL 0x40044E80u
#define NEURON_IOCTL_ZEROCOPY64_BATCHES 0xC0204E81u
#define NEURON_IOCTL_THROTTLING_NOTIFICATIONS 0x40044E82u
#define NEURON_IOCTL_GET_VA_PLACEMENT 0x40104E83u
#define NEURON_IOCTL_GET_PERFORMANCE_PROFILE 0xC0084E84u
#define NEURON_IOCTL_DMA_QUEUE_INIT_BATCH 0xB0084E85u
#define NEURON_IOCTL_AVAILABLE_PERF_PROFILES 0xC0244E86u
#define NEURON_IOCTL_GET_ASYNC_H2T_DMA_COMPL_QUEUES 0xC1084E87u

/* Fixed limits of the interface (spec 06 sections 2, 4 and 7.1). */
#define NEURON_MAX_DEVICES 64u
#define NEURON_MAX_CORES_PER_DEVICE 8u /* also the nc_id limit of allocations on every arch */
#define NEURON_MAX_DMA_ENGINES 132u
#define NEURON_MAX_DMA_QUEUES 16u
#define NEURON_MAX_ATTACHED_PROCESSES 16u
#define NEURON_MAX_HANDLE 4194303u
#define NEURON_MAX_QUEUE_INIT_BATCH 255u /* 256 entries exist, count must be below 256 */
#define NEURON_MAX_BAR_RW_COUNT 100u
#define NEURON_MAX_CORE_MARKS 512u
#define NEURON_MAX_NC_MAP_ENTRIES 128u
#define NEURON_SEMAPHORE_COUNT 256u
#define NEURON_EVENT_COUNT 256u
#define NEURON_PAGE_SIZE 4096u
#define NEURON_RING_MIN_DESCS 32u
#define NEURON_RING_MAX_DESCS 0xFFFFF0u /* 2^24 - 16 */
#define NEURON_RING_DESC_MULTIPLE 16u
#define NEURON_RING_BASE_ALIGN 256u
#define NEURON_NC_RESET_WHOLE_DEVICE 0xFFFFFFFFu
#define NEURON_NQ_DEVICE_MMAP_OFFSET 0xFFFFFFFFFFFFFFFFull /* queue lies in device memory */
#define NEURON_POD_NODE_ID_NONE (-1)

/* DRIVER_INFO feature_flags1 (spec 06 section 1). */
#define NEURON_FEATURE_DMABUF (1ull << 0)
#define NEURON_FEATURE_ASYNC_DMA (1ull << 1)
#define NEURON_FEATURE_BATCH_QUEUE_INIT (1ull << 2)
#define NEURON_FEATURE_BIG_CORE_MAPS (1ull << 3)
#define NEURON_FEATURE_MEM_TYPE (1ull << 4)
#define NEURON_FEATURE_HBM_SCRUB (1ull << 5)
#define NEURON_FEATURE_MEM_ALLOC64 (1ull << 6)
#define NEURON_FEATURE_CONTIGUOUS_SCRATCHPAD (1ull << 7)
#define NEURON_FEATURE_ZEROCOPY (1ull << 8)
#define NEURON_FEATURE_PINNED_HOST_MEMORY (1ull << 9)
#define NEURON_FEATURE_ALLOC_PA (1ull << 10)
#define NEURON_FEATURE_ASYNC_RW (1ull << 11)
#define NEURON_FEATURE_ASYNC_COPY (1ull << 12)

enum neuron_queue_type {
  NEURON_QUEUE_TX = 0,
  NEURON_QUEUE_RX = 1,
  NEURON_QUEUE_COMPLETION = 2,
};

/* Memory categories of MEM_ALLOC_V2MT*. Only CONTIGUOUS_SCRATCHPAD_DEVICE changes placement. */
enum neuron_mem_type {
  NEURON_MEM_UNKNOWN_HOST = 0,
  NEURON_MEM_CODE_HOST = 1,
  NEURON_MEM_TENSORS_HOST = 2,
  NEURON_MEM_CONSTANTS_HOST = 3,
  NEURON_MEM_MISC_HOST = 4,
  NEURON_MEM_NCDEV_HOST = 5,
  NEURON_MEM_NOTIFICATION_HOST = 6,
  NEURON_MEM_UNKNOWN_DEVICE = 7,
  NEURON_MEM_CODE_DEVICE = 8,
  NEURON_MEM_TENSORS_DEVICE = 9,
  NEURON_MEM_CONSTANTS_DEVICE = 10,
  NEURON_MEM_SCRATCHPAD_DEVICE = 11,
  NEURON_MEM_MISC_DEVICE = 12,
  NEURON_MEM_NCDEV_DEVICE = 13,
  NEURON_MEM_COLLECTIVES_DEVICE = 14,
  NEURON_MEM_SCRATCHPAD_NONSHARED_DEVICE = 15,
  NEURON_MEM_NOTIFICATION_DEVICE = 16,
  NEURON_MEM_DMA_RINGS_HOST = 17,
  NEURON_MEM_DMA_RINGS_DEVICE = 18,
  NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE = 19,
};

enum neuron_cinit_state {
  NEURON_CINIT_STARTED = 1,
  NEURON_CINIT_COMPLETED = 2,
  NEURON_CINIT_INVALID = 3,
};

enum neuron_nq_dev_type {
  NEURON_NQ_DEV_CORE = 0,
  NEURON_NQ_DEV_TOPSP = 1,
};

enum neuron_nq_type {
  NEURON_NQ_TRACE = 0,
  NEURON_NQ_NOTIFY = 1,
  NEURON_NQ_EVENT = 2,
  NEURON_NQ_ERROR = 3,
  NEURON_NQ_TRACE_DMA = 4,
  NEURON_NQ_THROTTLE = 5,
};

enum neuron_mmap_block {
  NEURON_MMAP_BLOCK_TPB = 0,
  NEURON_MMAP_BLOCK_TOPSP = 1,
  NEURON_MMAP_BLOCK_HBM = 2,
};

enum neuron_mmap_resource {
  NEURON_MMAP_SEMAPHORE = 0,
  NEURON_MMAP_ALL = 1,
  NEURON_MMAP_SBUF = 2,
  NEURON_MMAP_DMEM = 3,
};

enum neuron_async_handle {
  NEURON_ASYNC_NONE = -1,
  NEURON_ASYNC_SYNC = 0,
  NEURON_ASYNC_1 = 1,
  NEURON_ASYNC_2 = 2,
};

enum neuron_pod_state {
  NEURON_POD_NOT_STARTED = 0,
  NEURON_POD_IN_PROGRESS = 1,
  NEURON_POD_ULTRASERVER = 2,
  NEURON_POD_FAILED = 3,
  NEURON_POD_SINGLE_NODE = 4,
};

enum neuron_pod_ctrl_command {
  NEURON_POD_CTRL_POD = 0,
  NEURON_POD_CTRL_SINGLE_NODE = 1,
  NEURON_POD_CTRL_KILL = 2,
  NEURON_POD_CTRL_SET_MODE = 3,
};

/* Argument of DMA_ENG_SET_STATE. */
enum neuron_dma_set_state {
  NEURON_DMA_SET_DISABLE = 0,
  NEURON_DMA_SET_NORMAL = 2,
  NEURON_DMA_SET_ABORT = 3,
};

/* tx_state and rx_state of struct neuron_dma_eng_state. */
enum neuron_dma_eng_run_state {
  NEURON_DMA_ENG_IDLE = 1,
  NEURON_DMA_ENG_NORMAL = 2,
  NEURON_DMA_ENG_ABORT = 3,
};

/* sw_status of struct neuron_dma_queue_state. */
enum neuron_dma_queue_sw_status {
  NEURON_DMA_QUEUE_DISABLED = 1,
  NEURON_DMA_QUEUE_ENABLED = 2,
  NEURON_DMA_QUEUE_ABORTED = 3,
};

#define NEURON_APP_INFO_LOCKS 1u  /* apps_info_flags: fill nc_lock_map and uuid */
#define NEURON_APP_INFO_MEMORY 2u /* apps_info_flags: fill the memory sizes */

/* DEVICE_INFO. bar_address[0] = opaque base of the register BAR to which BAR_READ and BAR_WRITE
 * offsets are added. */
struct neuron_device_info {
  uint32_t architecture;
  uint32_t revision;
  uint32_t connected_device_count;
  uint32_t connected_devices[8];
  uint64_t bar_address[2];
  uint64_t bar_size[2];
};
NEURON_ABI_SIZE(struct neuron_device_info, 80);
NEURON_ABI_FIELD(struct neuron_device_info, revision, 4);
NEURON_ABI_FIELD(struct neuron_device_info, connected_device_count, 8);
NEURON_ABI_FIELD(struct neuron_device_info, connected_devices, 12);
NEURON_ABI_FIELD(struct neuron_device_info, bar_address, 48);
NEURON_ABI_FIELD(struct neuron_device_info, bar_size, 64);

/* DEVICE_INIT. */
struct neuron_device_init {
  uint32_t mem_regions;
};
NEURON_ABI_SIZE(struct neuron_device_init, 4);

/* one record of DEVICE_GET_ALL_APPS_INFO. */
struct neuron_app_info {
  int32_t pid;
  uint8_t nc_lock_map;
  uint8_t uuid[4][32];
  uint64_t host_mem_size;
  uint64_t device_mem_size;
};
NEURON_ABI_SIZE(struct neuron_app_info, 152);
NEURON_ABI_FIELD(struct neuron_app_info, nc_lock_map, 4);
NEURON_ABI_FIELD(struct neuron_app_info, uuid, 5);
NEURON_ABI_FIELD(struct neuron_app_info, host_mem_size, 136);
NEURON_ABI_FIELD(struct neuron_app_info, device_mem_size, 144);

/* DEVICE_GET_ALL_APPS_INFO. `capacity` records of struct neuron_app_info follow the 16-byte head.
 */
struct neuron_get_apps_info {
  uint16_t apps_info_flags;
  uint32_t capacity;
  uint32_t size;
  uint32_t pad;
};
NEURON_ABI_SIZE(struct neuron_get_apps_info, 16);
NEURON_ABI_FIELD(struct neuron_get_apps_info, capacity, 4);
NEURON_ABI_FIELD(struct neuron_get_apps_info, size, 8);

/* BAR_READ, BAR_WRITE: `count` u64 addresses and u32 values. */
struct neuron_bar_rw {
  uint32_t bar;
  uint64_t address_ptr;
  uint64_t data_ptr;
  uint32_t count;
};
NEURON_ABI_SIZE(struct neuron_bar_rw, 32);
NEURON_ABI_FIELD(struct neuron_bar_rw, address_ptr, 8);
NEURON_ABI_FIELD(struct neuron_bar_rw, data_ptr, 16);
NEURON_ABI_FIELD(struct neuron_bar_rw, count, 24);

/* POST_METRIC. */
struct neuron_post_metric {
  uint64_t data_ptr;
  uint32_t data_size;
};
NEURON_ABI_SIZE(struct neuron_post_metric, 16);
NEURON_ABI_FIELD(struct neuron_post_metric, data_size, 8);

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

/* DMA_ENG_INIT. */
struct neuron_dma_eng_init {
  uint32_t eng_id;
};
NEURON_ABI_SIZE(struct neuron_dma_eng_init, 4);

/* DMA_ENG_SET_STATE. */
struct neuron_dma_eng_set_state {
  uint32_t eng_id;
  uint32_t state;
};
NEURON_ABI_SIZE(struct neuron_dma_eng_set_state, 8);
NEURON_ABI_FIELD(struct neuron_dma_eng_set_state, state, 4);

/* DMA_ENG_GET_STATE. */
struct neuron_dma_eng_get_state {
  uint32_t eng_id;
  uint64_t state_ptr;
};
NEURON_ABI_SIZE(struct neuron_dma_eng_get_state, 16);
NEURON_ABI_FIELD(struct neuron_dma_eng_get_state, state_ptr, 8);

/* what DMA_ENG_GET_STATE stores. */
struct neuron_dma_eng_state {
  uint32_t revision_id;
  uint32_t max_queues;
  uint32_t num_queues;
  uint32_t tx_state;
  uint32_t rx_state;
};
NEURON_ABI_SIZE(struct neuron_dma_eng_state, 20);
NEURON_ABI_FIELD(struct neuron_dma_eng_state, max_queues, 4);
NEURON_ABI_FIELD(struct neuron_dma_eng_state, num_queues, 8);
NEURON_ABI_FIELD(struct neuron_dma_eng_state, tx_state, 12);
NEURON_ABI_FIELD(struct neuron_dma_eng_state, rx_state, 16);

/* DMA_QUEUE_INIT; counts are descriptors, handle 0 = no ring. */
struct neuron_dma_queue_init {
  uint32_t eng_id;
  uint32_t qid;
  uint32_t tx_desc_count;
  uint32_t rx_desc_count;
  uint64_t tx_handle;
  uint64_t rx_handle;
  uint64_t rxc_handle;
  uint32_t axi_port;
};
NEURON_ABI_SIZE(struct neuron_dma_queue_init, 48);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, qid, 4);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, tx_desc_count, 8);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, rx_desc_count, 12);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, tx_handle, 16);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, rx_handle, 24);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, rxc_handle, 32);
NEURON_ABI_FIELD(struct neuron_dma_queue_init, axi_port, 40);

/* DMA_QUEUE_INIT_BATCH; at most 255 entries are accepted. */
struct neuron_dma_queue_init_batch {
  uint32_t count;
  struct neuron_dma_queue_init entries[256];
};
NEURON_ABI_SIZE(struct neuron_dma_queue_init_batch, 12296);
NEURON_ABI_FIELD(struct neuron_dma_queue_init_batch, entries, 8);

/* DMA_QUEUE_RELEASE. */
struct neuron_dma_queue_release {
  uint32_t eng_id;
  uint32_t qid;
};
NEURON_ABI_SIZE(struct neuron_dma_queue_release, 8);
NEURON_ABI_FIELD(struct neuron_dma_queue_release, qid, 4);

/* DMA_QUEUE_COPY_START. */
struct neuron_dma_queue_copy_start {
  uint32_t eng_id;
  uint32_t qid;
  uint32_t tx_desc_count;
  uint32_t rx_desc_count;
};
NEURON_ABI_SIZE(struct neuron_dma_queue_copy_start, 16);
NEURON_ABI_FIELD(struct neuron_dma_queue_copy_start, qid, 4);
NEURON_ABI_FIELD(struct neuron_dma_queue_copy_start, tx_desc_count, 8);
NEURON_ABI_FIELD(struct neuron_dma_queue_copy_start, rx_desc_count, 12);

/* DMA_ACK_COMPLETED. */
struct neuron_dma_ack_completed {
  uint32_t eng_id;
  uint32_t qid;
  uint32_t count;
};
NEURON_ABI_SIZE(struct neuron_dma_ack_completed, 12);
NEURON_ABI_FIELD(struct neuron_dma_ack_completed, qid, 4);
NEURON_ABI_FIELD(struct neuron_dma_ack_completed, count, 8);

/* DMA_QUEUE_GET_STATE. */
struct neuron_dma_queue_get_state {
  uint32_t eng_id;
  uint32_t qid;
  uint64_t tx_ptr;
  uint64_t rx_ptr;
};
NEURON_ABI_SIZE(struct neuron_dma_queue_get_state, 24);
NEURON_ABI_FIELD(struct neuron_dma_queue_get_state, qid, 4);
NEURON_ABI_FIELD(struct neuron_dma_queue_get_state, tx_ptr, 8);
NEURON_ABI_FIELD(struct neuron_dma_queue_get_state, rx_ptr, 16);

/* one half as stored by DMA_QUEUE_GET_STATE. */
struct neuron_dma_queue_state {
  uint32_t hw_status;
  uint32_t sw_status;
  uint64_t base_addr;
  uint32_t length;
  uint32_t head_pointer;
  uint32_t tail_pointer;
  uint64_t completion_base_addr;
  uint32_t completion_head;
};
NEURON_ABI_SIZE(struct neuron_dma_queue_state, 48);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, sw_status, 4);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, base_addr, 8);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, length, 16);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, head_pointer, 20);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, tail_pointer, 24);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, completion_base_addr, 32);
NEURON_ABI_FIELD(struct neuron_dma_queue_state, completion_head, 40);

/* DMA_COPY_DESCRIPTORS. */
struct neuron_dma_copy_descriptors {
  uint64_t mem_handle;
  uint64_t buffer_ptr;
  uint32_t num_descs;
  uint32_t offset;
  uint32_t queue_type;
};
NEURON_ABI_SIZE(struct neuron_dma_copy_descriptors, 32);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors, num_descs, 16);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors, offset, 20);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors, queue_type, 24);

/* DMA_COPY_DESCRIPTORS64; offset in bytes. */
struct neuron_dma_copy_descriptors64 {
  uint64_t mem_handle;
  uint64_t buffer_ptr;
  uint32_t num_descs;
  uint64_t offset;
  uint32_t queue_type;
};
NEURON_ABI_SIZE(struct neuron_dma_copy_descriptors64, 40);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors64, buffer_ptr, 8);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors64, num_descs, 16);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors64, offset, 24);
NEURON_ABI_FIELD(struct neuron_dma_copy_descriptors64, queue_type, 32);

/* DMA_DESCRIPTOR_COPYOUT. */
struct neuron_dma_descriptor_copyout {
  uint32_t eng_id;
  uint32_t qid;
  uint32_t type;
  uint32_t start_index;
  uint32_t count;
  uint64_t buffer_ptr;
};
NEURON_ABI_SIZE(struct neuron_dma_descriptor_copyout, 32);
NEURON_ABI_FIELD(struct neuron_dma_descriptor_copyout, qid, 4);
NEURON_ABI_FIELD(struct neuron_dma_descriptor_copyout, type, 8);
NEURON_ABI_FIELD(struct neuron_dma_descriptor_copyout, start_index, 12);
NEURON_ABI_FIELD(struct neuron_dma_descriptor_copyout, count, 16);
NEURON_ABI_FIELD(struct neuron_dma_descriptor_copyout, buffer_ptr, 24);

/* DMA_QUIESCE_QUEUES; never read. */
struct neuron_dma_quiesce_queues {
  uint32_t nc_id;
  uint32_t engine_count;
  uint8_t queue_mask[256];
};
NEURON_ABI_SIZE(struct neuron_dma_quiesce_queues, 264);
NEURON_ABI_FIELD(struct neuron_dma_quiesce_queues, engine_count, 4);
NEURON_ABI_FIELD(struct neuron_dma_quiesce_queues, queue_mask, 8);

/* SEMAPHORE_*. */
struct neuron_semaphore {
  uint32_t nc_id;
  uint32_t semaphore_index;
  uint32_t value;
};
NEURON_ABI_SIZE(struct neuron_semaphore, 12);
NEURON_ABI_FIELD(struct neuron_semaphore, semaphore_index, 4);
NEURON_ABI_FIELD(struct neuron_semaphore, value, 8);

/* EVENT_SET, EVENT_GET. */
struct neuron_event {
  uint32_t nc_id;
  uint32_t event_index;
  uint32_t value;
};
NEURON_ABI_SIZE(struct neuron_event, 12);
NEURON_ABI_FIELD(struct neuron_event, event_index, 4);
NEURON_ABI_FIELD(struct neuron_event, value, 8);

/* NOTIFICATIONS_INIT_V1. */
struct neuron_notifications_init_v1 {
  uint32_t nc_id;
  uint32_t nq_type;
  uint32_t engine_index;
  uint32_t size;
  uint64_t mmap_offset;
};
NEURON_ABI_SIZE(struct neuron_notifications_init_v1, 24);
NEURON_ABI_FIELD(struct neuron_notifications_init_v1, nq_type, 4);
NEURON_ABI_FIELD(struct neuron_notifications_init_v1, engine_index, 8);
NEURON_ABI_FIELD(struct neuron_notifications_init_v1, size, 12);
NEURON_ABI_FIELD(struct neuron_notifications_init_v1, mmap_offset, 16);

/* NOTIFICATIONS_DESTROY_V1. */
struct neuron_notifications_destroy {
  uint64_t mmap_offset;
};
NEURON_ABI_SIZE(struct neuron_notifications_destroy, 8);

/* NOTIFICATIONS_INIT_V2. */
struct neuron_notifications_init_v2 {
  uint32_t nq_dev_id;
  uint32_t nq_dev_type;
  uint32_t nq_type;
  uint32_t engine_index;
  uint32_t size;
  uint32_t on_host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint64_t mmap_offset;
  uint64_t mem_handle;
};
NEURON_ABI_SIZE(struct neuron_notifications_init_v2, 48);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, nq_dev_type, 4);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, nq_type, 8);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, engine_index, 12);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, size, 16);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, on_host_memory, 20);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, dram_channel, 24);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, dram_region, 28);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, mmap_offset, 32);
NEURON_ABI_FIELD(struct neuron_notifications_init_v2, mem_handle, 40);

/* NOTIFICATIONS_INIT_WITH_REALLOC_V2. */
struct neuron_notifications_init_realloc_v2 {
  uint32_t nq_dev_id;
  uint32_t nq_dev_type;
  uint32_t nq_type;
  uint32_t engine_index;
  uint32_t size;
  uint32_t on_host_memory;
  uint32_t dram_channel;
  uint32_t dram_region;
  uint32_t force_alloc_mem;
  uint64_t mmap_offset;
  uint64_t mem_handle;
};
NEURON_ABI_SIZE(struct neuron_notifications_init_realloc_v2, 56);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, nq_dev_type, 4);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, nq_type, 8);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, engine_index, 12);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, size, 16);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, on_host_memory, 20);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, dram_channel, 24);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, dram_region, 28);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, force_alloc_mem, 32);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, mmap_offset, 40);
NEURON_ABI_FIELD(struct neuron_notifications_init_realloc_v2, mem_handle, 48);

/* NOTIFICATIONS_QUEUE_INFO. */
struct neuron_notifications_queue_info {
  uint8_t nq_dev_id;
  uint8_t nq_dev_type;
  uint8_t nq_type;
  uint8_t engine_index;
  uint32_t head;
  uint32_t phase_bit;
};
NEURON_ABI_SIZE(struct neuron_notifications_queue_info, 12);
NEURON_ABI_FIELD(struct neuron_notifications_queue_info, nq_dev_type, 1);
NEURON_ABI_FIELD(struct neuron_notifications_queue_info, nq_type, 2);
NEURON_ABI_FIELD(struct neuron_notifications_queue_info, engine_index, 3);
NEURON_ABI_FIELD(struct neuron_notifications_queue_info, head, 4);
NEURON_ABI_FIELD(struct neuron_notifications_queue_info, phase_bit, 8);

/* READ_HW_COUNTERS. */
struct neuron_read_hw_counters {
  uint64_t address_ptr;
  uint64_t data_ptr;
  uint32_t count;
};
NEURON_ABI_SIZE(struct neuron_read_hw_counters, 24);
NEURON_ABI_FIELD(struct neuron_read_hw_counters, data_ptr, 8);
NEURON_ABI_FIELD(struct neuron_read_hw_counters, count, 16);

/* ACQUIRE_NEURON_DS, RELEASE_NEURON_DS. */
struct neuron_neuron_ds {
  int32_t pid;
  uint64_t mmap_offset;
  uint32_t size;
};
NEURON_ABI_SIZE(struct neuron_neuron_ds, 24);
NEURON_ABI_FIELD(struct neuron_neuron_ds, mmap_offset, 8);
NEURON_ABI_FIELD(struct neuron_neuron_ds, size, 16);

/* CRWL_READER_ENTER and the other per-core locks. */
struct neuron_crwl {
  uint32_t nc_id;
  uint8_t uuid[32];
};
NEURON_ABI_SIZE(struct neuron_crwl, 36);
NEURON_ABI_FIELD(struct neuron_crwl, uuid, 4);

/* CRWL_NC_RANGE_MARK, _UNMARK. */
struct neuron_crwl_nc_map {
  uint32_t nc_count;
  uint32_t start_nc_index;
  uint32_t end_nc_index;
  uint32_t max_nc_available;
  uint64_t bitmap;
};
NEURON_ABI_SIZE(struct neuron_crwl_nc_map, 24);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map, start_nc_index, 4);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map, end_nc_index, 8);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map, max_nc_available, 12);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map, bitmap, 16);

/* CRWL_NC_RANGE_MARK_EXT0, _UNMARK_EXT0. */
struct neuron_crwl_nc_map_ext0 {
  uint32_t nc_count;
  uint32_t start_nc_index;
  uint32_t end_nc_index;
  uint32_t max_nc_available;
  uint64_t bitmap[8];
};
NEURON_ABI_SIZE(struct neuron_crwl_nc_map_ext0, 80);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map_ext0, start_nc_index, 4);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map_ext0, end_nc_index, 8);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map_ext0, max_nc_available, 12);
NEURON_ABI_FIELD(struct neuron_crwl_nc_map_ext0, bitmap, 16);

/* CINIT_SET_STATE. */
struct neuron_cinit_set_state {
  uint32_t nc_id;
  uint32_t state;
  uint32_t new_state;
};
NEURON_ABI_SIZE(struct neuron_cinit_set_state, 12);
NEURON_ABI_FIELD(struct neuron_cinit_set_state, state, 4);
NEURON_ABI_FIELD(struct neuron_cinit_set_state, new_state, 8);

/* NC_MODEL_STARTED_COUNT. */
struct neuron_nc_model_started_count {
  uint32_t nc_id;
  uint64_t started_count;
};
NEURON_ABI_SIZE(struct neuron_nc_model_started_count, 16);
NEURON_ABI_FIELD(struct neuron_nc_model_started_count, started_count, 8);

/* COMPATIBLE_VERSION: accepted runtime ABI numbers. */
struct neuron_compatible_version {
  uint32_t max;
  uint32_t min;
};
NEURON_ABI_SIZE(struct neuron_compatible_version, 8);
NEURON_ABI_FIELD(struct neuron_compatible_version, min, 4);

/* DEVICE_BASIC_INFO. */
struct neuron_device_basic_info {
  uint32_t architecture;
  uint32_t revision;
};
NEURON_ABI_SIZE(struct neuron_device_basic_info, 8);
NEURON_ABI_FIELD(struct neuron_device_basic_info, revision, 4);

/* DEVICE_BDF. */
struct neuron_device_bdf {
  uint32_t bus_number;
  uint8_t slot;
  uint8_t func;
};
NEURON_ABI_SIZE(struct neuron_device_bdf, 8);
NEURON_ABI_FIELD(struct neuron_device_bdf, slot, 4);
NEURON_ABI_FIELD(struct neuron_device_bdf, func, 5);

/* DEVICE_BDF_EXT. */
struct neuron_device_bdf_ext {
  uint32_t nd_index;
  uint32_t domain;
  uint32_t bus_number;
  uint8_t slot;
  uint8_t func;
};
NEURON_ABI_SIZE(struct neuron_device_bdf_ext, 16);
NEURON_ABI_FIELD(struct neuron_device_bdf_ext, domain, 4);
NEURON_ABI_FIELD(struct neuron_device_bdf_ext, bus_number, 8);
NEURON_ABI_FIELD(struct neuron_device_bdf_ext, slot, 12);
NEURON_ABI_FIELD(struct neuron_device_bdf_ext, func, 13);

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

/* NC_RESET. */
struct neuron_nc_reset {
  uint32_t nc_map;
  uint32_t request_id;
};
NEURON_ABI_SIZE(struct neuron_nc_reset, 8);
NEURON_ABI_FIELD(struct neuron_nc_reset, request_id, 4);

/* NC_RESET_READY. */
struct neuron_nc_reset_ready {
  uint32_t request_id;
  uint32_t result;
};
NEURON_ABI_SIZE(struct neuron_nc_reset_ready, 8);
NEURON_ABI_FIELD(struct neuron_nc_reset_ready, result, 4);

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

/* DRIVER_INFO_GET, DRIVER_INFO_SET. */
struct neuron_driver_info {
  uint32_t architecture;
  uint32_t revision;
  uint32_t version;
  uint32_t size;
  uint64_t feature_flags1;
};
NEURON_ABI_SIZE(struct neuron_driver_info, 24);
NEURON_ABI_FIELD(struct neuron_driver_info, revision, 4);
NEURON_ABI_FIELD(struct neuron_driver_info, version, 8);
NEURON_ABI_FIELD(struct neuron_driver_info, size, 12);
NEURON_ABI_FIELD(struct neuron_driver_info, feature_flags1, 16);

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

/* PRINTK. */
struct neuron_printk {
  uint64_t buffer_ptr;
  uint32_t size;
  uint32_t action;
};
NEURON_ABI_SIZE(struct neuron_printk, 16);
NEURON_ABI_FIELD(struct neuron_printk, size, 8);
NEURON_ABI_FIELD(struct neuron_printk, action, 12);

/* HOST_DEVICE_ID. */
struct neuron_host_device_id {
  uint32_t host_device_id;
};
NEURON_ABI_SIZE(struct neuron_host_device_id, 4);

/* HOST_DEVICE_ID_TO_RID_MAP. */
struct neuron_host_device_id_to_rid_map {
  uint32_t count;
  uint32_t host_did_to_rid_map[64];
};
NEURON_ABI_SIZE(struct neuron_host_device_id_to_rid_map, 260);
NEURON_ABI_FIELD(struct neuron_host_device_id_to_rid_map, host_did_to_rid_map, 4);

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

/* NC_PID_STATE_DUMP. */
struct neuron_nc_pid_state_dump {
  uint32_t size;
  uint32_t nc_id;
  uint32_t filter_log_owner;
  uint32_t log_dump_limit;
};
NEURON_ABI_SIZE(struct neuron_nc_pid_state_dump, 16);
NEURON_ABI_FIELD(struct neuron_nc_pid_state_dump, nc_id, 4);
NEURON_ABI_FIELD(struct neuron_nc_pid_state_dump, filter_log_owner, 8);
NEURON_ABI_FIELD(struct neuron_nc_pid_state_dump, log_dump_limit, 12);

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

/* one record of GET_LOGICAL_TO_PHYSICAL_NC_MAP, after a u32 count. */
struct neuron_nc_map_entry {
  uint32_t device_id;
  uint32_t device_nc_idx;
};
NEURON_ABI_SIZE(struct neuron_nc_map_entry, 8);
NEURON_ABI_FIELD(struct neuron_nc_map_entry, device_nc_idx, 4);

/* GET_LOGICAL_TO_PHYSICAL_NC_MAP. */
struct neuron_nc_map {
  uint64_t map_ptr;
  uint32_t max_map_entries;
  uint32_t mapping_version;
};
NEURON_ABI_SIZE(struct neuron_nc_map, 16);
NEURON_ABI_FIELD(struct neuron_nc_map, max_map_entries, 8);
NEURON_ABI_FIELD(struct neuron_nc_map, mapping_version, 12);

/* POD_INFO. */
struct neuron_pod_info {
  uint16_t sz;
  uint8_t pod_type;
  uint8_t pod_id[256];
  uint8_t pod_sz;
};
NEURON_ABI_SIZE(struct neuron_pod_info, 260);
NEURON_ABI_FIELD(struct neuron_pod_info, pod_type, 2);
NEURON_ABI_FIELD(struct neuron_pod_info, pod_id, 3);
NEURON_ABI_FIELD(struct neuron_pod_info, pod_sz, 259);

/* POD_STATUS. */
struct neuron_pod_status {
  uint16_t sz;
  uint8_t pod_id[256];
  uint32_t state;
  uint8_t pod_type;
  uint8_t pod_sz;
  int8_t node_id;
};
NEURON_ABI_SIZE(struct neuron_pod_status, 268);
NEURON_ABI_FIELD(struct neuron_pod_status, pod_id, 2);
NEURON_ABI_FIELD(struct neuron_pod_status, state, 260);
NEURON_ABI_FIELD(struct neuron_pod_status, pod_type, 264);
NEURON_ABI_FIELD(struct neuron_pod_status, pod_sz, 265);
NEURON_ABI_FIELD(struct neuron_pod_status, node_id, 266);

/* POD_STATUS_V2. */
struct neuron_pod_status_v2 {
  struct neuron_pod_status v1;
  uint32_t mode;
  uint32_t modes_supported;
};
NEURON_ABI_SIZE(struct neuron_pod_status_v2, 276);
NEURON_ABI_FIELD(struct neuron_pod_status_v2, mode, 268);
NEURON_ABI_FIELD(struct neuron_pod_status_v2, modes_supported, 272);

/* POD_CTRL. */
struct neuron_pod_ctrl {
  uint16_t sz;
  uint32_t ctrl;
  uint32_t timeout;
  uint32_t state;
};
NEURON_ABI_SIZE(struct neuron_pod_ctrl, 16);
NEURON_ABI_FIELD(struct neuron_pod_ctrl, ctrl, 4);
NEURON_ABI_FIELD(struct neuron_pod_ctrl, timeout, 8);
NEURON_ABI_FIELD(struct neuron_pod_ctrl, state, 12);

/* POD_CTRL_V2. */
struct neuron_pod_ctrl_v2 {
  struct neuron_pod_ctrl v1;
  uint32_t mode;
};
NEURON_ABI_SIZE(struct neuron_pod_ctrl_v2, 20);
NEURON_ABI_FIELD(struct neuron_pod_ctrl_v2, mode, 16);

#endif
