/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* The handlers that nds_dispatch.c chooses from, by file. A handler's result is the ioctl's. */
#ifndef NDS_HANDLERS_H
#define NDS_HANDLERS_H

struct nds_call;

typedef long (*nds_handler)(struct nds_call* call);

/* nds_ident.c */
long nds_device_info(struct nds_call* call);
long nds_device_basic_info(struct nds_call* call);
long nds_device_bdf(struct nds_call* call);
long nds_device_bdf_ext(struct nds_call* call);
long nds_driver_info(struct nds_call* call);
long nds_compatible_version(struct nds_call* call);
long nds_host_device_id(struct nds_call* call);
long nds_host_device_id_to_rid_map(struct nds_call* call);
long nds_nc_map(struct nds_call* call);
long nds_device_app_pid(struct nds_call* call);
long nds_device_get_all_apps_info(struct nds_call* call);
long nds_printk(struct nds_call* call);

/* nds_misc_ioctl.c */
long nds_do_nothing(struct nds_call* call);
long nds_not_permitted(struct nds_call* call);
long nds_no_ioctl(struct nds_call* call);
long nds_dmabuf_fd(struct nds_call* call);
long nds_nc_pid_state_dump(struct nds_call* call);
long nds_pod_info(struct nds_call* call);
long nds_pod_status(struct nds_call* call);
long nds_pod_ctrl(struct nds_call* call);
long nds_dump_mem_chunks(struct nds_call* call);

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
long nds_mem_copy64_v30(struct nds_call* call);
long nds_memset(struct nds_call* call);
long nds_memset64(struct nds_call* call);

/* nds_async_ioctl.c */
long nds_mem_copy_async(struct nds_call* call);
long nds_mem_copy_async64(struct nds_call* call);
long nds_mem_copy_async_wait(struct nds_call* call);
long nds_program_engine(struct nds_call* call);
long nds_program_engine_nc(struct nds_call* call);
long nds_program_engine_nc64(struct nds_call* call);

/* nds_scrub.c */
long nds_hbm_scrub_start(struct nds_call* call);
long nds_hbm_scrub_wait(struct nds_call* call);

/* nds_dma_ioctl.c, nds_desc_ioctl.c, nds_engine_ioctl.c */
long nds_dma_queue_init(struct nds_call* call);
long nds_dma_queue_init_batch(struct nds_call* call);
long nds_dma_queue_get_state(struct nds_call* call);
long nds_dma_copy_descriptors(struct nds_call* call);
long nds_dma_copy_descriptors64(struct nds_call* call);
long nds_dma_descriptor_copyout(struct nds_call* call);
long nds_dma_eng_set_state(struct nds_call* call);
long nds_dma_eng_get_state(struct nds_call* call);
long nds_dma_queue_copy_start(struct nds_call* call);
long nds_dma_ack_completed(struct nds_call* call);

/* nds_events.c */
long nds_semaphore_increment(struct nds_call* call);
long nds_semaphore_decrement(struct nds_call* call);
long nds_semaphore_read(struct nds_call* call);
long nds_semaphore_write(struct nds_call* call);
long nds_event_set(struct nds_call* call);
long nds_event_get(struct nds_call* call);

/* nds_core.c, nds_crwl.c, nds_marks.c */
long nds_cinit_set_state(struct nds_call* call);
long nds_nc_model_started_count(struct nds_call* call);
long nds_nc_reset(struct nds_call* call);
long nds_nc_reset_ready(struct nds_call* call);
long nds_device_reset(struct nds_call* call);
long nds_device_ready(struct nds_call* call);
long nds_crwl(struct nds_call* call);
long nds_range_mark(struct nds_call* call);
long nds_range_unmark(struct nds_call* call);

/* nds_nq.c */
long nds_notifications_init_v1(struct nds_call* call);
long nds_notifications_init_v2(struct nds_call* call);
long nds_notifications_init_realloc_v2(struct nds_call* call);

/* nds_bar_ioctl.c */
long nds_bar_read(struct nds_call* call);
long nds_bar_write(struct nds_call* call);
long nds_read_hw_counters(struct nds_call* call);
long nds_post_metric(struct nds_call* call);

/* nds_store.c, nds_resource.c */
long nds_acquire_store(struct nds_call* call);
long nds_release_store(struct nds_call* call);
long nds_resource_mmap_info(struct nds_call* call);

#endif
