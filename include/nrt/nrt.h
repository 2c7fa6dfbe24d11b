/* SPDX-License-Identifier: MIT */
/* The runtime's C API: life cycle, models, tensors, execution (spec 07). Every function may be
 * called from several threads unless it says otherwise. A virtual core ("vnc") is named by its
 * place in the list of visible ones, from 0. */
#ifndef NEFFLD_NRT_H
#define NEFFLD_NRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRT_MAJOR_VERSION 2
#define NRT_MINOR_VERSION 0

/* Handles: never dereference, never compare with anything but NULL. */
typedef struct nrt_model nrt_model_t;
typedef struct nrt_tensor nrt_tensor_t;
typedef struct nrt_cc_context nrt_cc_context_t;
typedef void nrt_tensor_set_t;

typedef enum {
  NRT_TENSOR_PLACEMENT_DEVICE = 0,
  NRT_TENSOR_PLACEMENT_HOST = 1,   /* host memory */
  NRT_TENSOR_PLACEMENT_VIRTUAL = 2 /* plain process memory */
} nrt_tensor_placement_t;

typedef enum {
  NRT_FRAMEWORK_TYPE_INVALID = 0,
  NRT_FRAMEWORK_TYPE_NO_FW = 1,
  NRT_FRAMEWORK_TYPE_TENSORFLOW = 2,
  NRT_FRAMEWORK_TYPE_PYTORCH = 3,
  NRT_FRAMEWORK_TYPE_MXNET = 4,
  NRT_FRAMEWORK_TYPE_PRECHECK = 5
} nrt_framework_type_t;

/* nrt_instance_info::family */
enum {
  NRT_INSTANCE_UNKNOWN = 0,
  NRT_INSTANCE_INF1 = 1,
  NRT_INSTANCE_TRN1 = 2,
  NRT_INSTANCE_TRN1N = 3,
  NRT_INSTANCE_INF2 = 4,
  NRT_INSTANCE_TRN2 = 5,
  NRT_INSTANCE_TRN2N = 6,
  NRT_INSTANCE_INF2E = 7,
  NRT_INSTANCE_TRN2P = 8,
  NRT_INSTANCE_TRN2U = 9,
  NRT_INSTANCE_TRN2E = 10,
  NRT_INSTANCE_TRN2EU = 11,
  NRT_INSTANCE_TRN2AC = 12,
  NRT_INSTANCE_TRN2UAC = 13,
  NRT_INSTANCE_TRN3 = 14,
  NRT_INSTANCE_TRN3PDS98 = 15
};

/* nrt_instance_info::size */
enum {
  NRT_INSTANCE_SIZE_1XL = 0,
  NRT_INSTANCE_SIZE_2XL = 1,
  NRT_INSTANCE_SIZE_4XL = 2,
  NRT_INSTANCE_SIZE_6XL = 3,
  NRT_INSTANCE_SIZE_8XL = 4,
  NRT_INSTANCE_SIZE_24XL = 5,
  NRT_INSTANCE_SIZE_32XL = 6,
  NRT_INSTANCE_SIZE_48XL = 7,
  NRT_INSTANCE_SIZE_3XL = 8,
  NRT_INSTANCE_SIZE_UNKNOWN = 9,
  NRT_INSTANCE_SIZE_NUM = NRT_INSTANCE_SIZE_UNKNOWN
};

typedef enum nrt_op_type {
  NRT_OP_ADD = 0,
  NRT_OP_FMA = 1,
  NRT_OP_MAX = 2,
  NRT_OP_MIN = 3,
  NRT_OP_INVALID = 15
} nrt_op_type_t;

typedef enum nrt_dtype {
  NRT_DTYPE_UNKNOWN = 0,
  NRT_DTYPE_INVALID = 0,
  NRT_DTYPE_UINT64 = 1,
  NRT_DTYPE_INT8 = 2,
  NRT_DTYPE_UINT8 = 3,
  NRT_DTYPE_INT16 = 4,
  NRT_DTYPE_UINT16 = 5,
  NRT_DTYPE_BFLOAT16 = 6,
  NRT_DTYPE_FLOAT16 = 7,
  NRT_DTYPE_INT32 = 8,
  NRT_DTYPE_UINT32 = 9,
  NRT_DTYPE_FLOAT32 = 10,
  NRT_DTYPE_FP32R = 11,
  NRT_DTYPE_INT64 = 12,
  NRT_DTYPE_FP8_E3 = 13,
  NRT_DTYPE_FP8_E4 = 14,
  NRT_DTYPE_FP8_E5 = 15
} nrt_dtype_t;

typedef enum nrt_cc_op_type {
  NRT_CC_ALLGATHER = 0,
  NRT_CC_ALLREDUCE = 1,
  NRT_CC_REDUCESCATTER = 2
} nrt_cc_op_type_t;

typedef struct nrt_instance_info {
  uint32_t family;
  uint32_t size;
  char arch_name[16];
  char device_revision[8];
} nrt_instance_info_t;

/* ---- life cycle ---- */

/* Opens the devices and takes the visible cores. A second call without nrt_close() between does
 * nothing. Both texts may be NULL. Not to be called while nrt_close() runs. */
NRT_STATUS nrt_init(nrt_framework_type_t framework, const char* fw_version,
                    const char* fal_version);
/* Waits for calls in flight, unloads every model, frees the device memory of every tensor and
 * gives the cores back. Handles that are left may still be freed. nrt_init() works again after. */
void nrt_close(void);

/* ---- what there is; these work in every state ---- */

/* Writes the first min(length, 32) bytes of the struct. */
NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t length);
NRT_STATUS nrt_get_total_nc_count(uint32_t* count);  /* deprecated name of the next */
NRT_STATUS nrt_get_total_vnc_count(uint32_t* count); /* virtual cores of the instance */
NRT_STATUS nrt_get_visible_nc_count(uint32_t* count);
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* count); /* virtual cores this process may use */

/* ---- models ---- */

/* Loads a NEFF on a virtual core, or on the least used one for `vnc` -1. Pass -1 as `vnc_count`.
 * The bytes are not needed after the call. On failure `*model` is NULL and nothing is left on the
 * device. */
NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model);
/* The same for a model that takes part in collectives as rank `ctx_device_id` of
 * `ctx_device_count`. */
NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model);
/* Waits until nobody uses the model, then frees everything it owns and ends its handle. */
NRT_STATUS nrt_unload(nrt_model_t* model);
/* Deprecated: both write 1. */
NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* count);
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* count);

/* ---- tensor sets: names to tensors; a set owns no tensor; one writer at a time ---- */

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** set);
/* Ends the set and writes NULL to `*set`; NULL and a pointer to NULL are allowed. */
void nrt_destroy_tensor_set(nrt_tensor_set_t** set);
/* Adds a tensor, or replaces the one of that name. */
NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* name,
                                        nrt_tensor_t* tensor);
/* NRT_FAILURE if the set has no such name. */
NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* set, const char* name,
                                          nrt_tensor_t** tensor);

/* ---- execution ---- */

NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set);
/* A count above 1 is refused. */
NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count);

/* ---- tensors: a name, a place in some storage, a size in bytes ---- */

/* Allocates storage and a tensor over all of it. DEVICE needs a virtual core, the others take -1.
 * `name` may be NULL. */
NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor);
/* A tensor without storage; give it some with nrt_tensor_attach_buffer(). */
NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor);
/* Makes caller memory the tensor's storage; it stays the caller's. Storage it had before goes if
 * nobody else uses it. */
NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size);
/* A tensor over a part of another one's storage. Either may be freed first. */
NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** slice);
/* Ends the tensor and writes NULL to `*tensor`; NULL and a pointer to NULL are allowed. */
void nrt_tensor_free(nrt_tensor_t** tensor);

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buffer, size_t offset, size_t size);
NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buffer, size_t offset, size_t size);

typedef struct nrt_tensor_batch_op {
  uint64_t offset; /* in the tensor */
  uint64_t size;
  void* buffer;
} nrt_tensor_batch_op_t;

typedef struct nrt_tensor_batch {
  const nrt_tensor_t* tensor;
  const nrt_tensor_batch_op_t* ops;
  uint32_t num_ops;
} nrt_tensor_batch_t;

/* Many reads or writes in array order; the first failure ends the call. `unsafe` skips waiting for
 * other users of the tensors. */
NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool unsafe);
NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool unsafe);

/* Two device tensors must be in the same HBM. Ranges may overlap. */
NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* source, size_t source_offset,
                           nrt_tensor_t* destination, size_t destination_offset, size_t size);
NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size);
/* 0 without a tensor or storage. Works in every state. */
size_t nrt_tensor_get_size(const nrt_tensor_t* tensor);
/* Where the process can reach the bytes, or NULL. */
void* nrt_tensor_get_va(const nrt_tensor_t* tensor);

typedef struct nrt_tensor_device_allocation_info {
  uint64_t physical_address; /* device address of the tensor's first byte */
  size_t size;               /* bytes of the whole allocation */
  int hbm_index;
} nrt_tensor_device_allocation_info_t;
/* Device tensors only. */
NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* info);

/* Waits until the tensor was completed as an output `expected` times, at most `timeout`
 * microseconds, for ever if that is negative. */
NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* tensor, int64_t timeout,
                                              uint64_t expected);
NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* tensor);

/* ---- devices ---- */

typedef struct nrt_vnc_memory_stats {
  size_t bytes_used;  /* device memory this process holds on the virtual core's cores */
  size_t bytes_limit; /* size of its HBM */
} nrt_vnc_memory_stats_t;
/* Writes the first min(size_in, 16) bytes and tells how many. */
NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats, size_t size_in,
                                    size_t* size_out);

NRT_STATUS nrt_get_dmabuf_fd(uint64_t va, uint64_t size, int* fd);
NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id);
/* `*count`: entries there is room for, then entries written. */
NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* map);
NRT_STATUS nrt_get_hbm_mmap_va(int device_id, int hbm_index, void** address, size_t* size);
NRT_STATUS nrt_get_attached_efa_bdf(const void* va, char* efa_bdf, size_t* length);

/* ---- collectives between processes ---- */

NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);

typedef struct nrt_cc_comm {
  uint32_t* replica_group;
  uint32_t rank;   /* in the group */
  uint32_t rank_n; /* size of the group */
  uint32_t ctx_device_id;
  uint32_t ctx_device_count;
  uint32_t vnc;
} nrt_cc_comm_t;

typedef struct nrt_tensor_list {
  nrt_tensor_t** tensors;
  size_t num_tensors;
} nrt_tensor_list_t;

NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
NRT_STATUS nrt_cc_create_stream(uint32_t stream_id);

#ifdef __cplusplus
}
#endif
#endif
