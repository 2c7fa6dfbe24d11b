/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Argument structs of the DMA, semaphore, event and notification queue commands. Include
 * neuron_abi/ioctl.h. */
#ifndef NEURON_ABI_IOCTL_DMA_H
#define NEURON_ABI_IOCTL_DMA_H

#include "neuron_abi/types.h"

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

#endif
