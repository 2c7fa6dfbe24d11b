/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Argument structs of the identity, register, core and pod commands. Include neuron_abi/ioctl.h. */
#ifndef NEURON_ABI_IOCTL_DEVICE_H
#define NEURON_ABI_IOCTL_DEVICE_H

#include "neuron_abi/types.h"

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
