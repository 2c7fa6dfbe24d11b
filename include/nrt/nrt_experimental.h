/* SPDX-License-Identifier: MIT */
/* Model and tensor information, asynchronous mode, microcode (spec 07). */
#ifndef NEFFLD_NRT_EXPERIMENTAL_H
#define NEFFLD_NRT_EXPERIMENTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nrt_tensor_usage {
  NRT_TENSOR_USAGE_INPUT = 0,
  NRT_TENSOR_USAGE_OUTPUT = 1
} nrt_tensor_usage_t;

#define NRT_TENSOR_NAME_MAX 256

typedef struct nrt_tensor_info {
  char name[NRT_TENSOR_NAME_MAX]; /* ends with NUL */
  nrt_tensor_usage_t usage;
  size_t size; /* bytes */
  nrt_dtype_t dtype;
  uint32_t* shape; /* ndim entries */
  uint32_t ndim;
} nrt_tensor_info_t;

/* Standard C++ lacks flexible arrays, GCC and clang have them. */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
typedef struct nrt_tensor_info_array {
  uint64_t tensor_count;
#ifdef __cplusplus
  __extension__ nrt_tensor_info_t tensor_array[];
#else
  nrt_tensor_info_t tensor_array[];
#endif
} nrt_tensor_info_array_t;
#ifdef __clang__
#pragma clang diagnostic pop
#endif

typedef void (*NRT_ASYNC_EXEC_STATUS_CALLBACK)(void* params, uint32_t model_id, uint32_t vnc,
                                               uint64_t job_id, NRT_STATUS status);

/* All inputs by name, then all outputs by name. Give the array back with
 * nrt_free_model_tensor_info(), which works in every state and takes NULL. */
NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** info);
NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* info);
/* Deprecated: writes 1. */
NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* instance_count);

typedef struct nrt_model_info {
  uint32_t vnc; /* where the model is */
} nrt_model_info_t;
/* Writes the first min(size_in, 4) bytes and tells how many. */
NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t size_in,
                              size_t* size_out);

NRT_STATUS nrt_trace_start(bool trace_mem);
NRT_STATUS nrt_trace_stop(const char* filename);

void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size);

typedef struct nrt_ucode_img {
  uint8_t* bin;
  size_t size;
} nrt_ucode_img;

typedef struct nrt_ucode_info {
  nrt_ucode_img iram;
  nrt_ucode_img dram;
} nrt_ucode_info;
/* Only before nrt_init(); the images must stay until it returns. */
NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* info);

/* Copies to mapped device memory. */
NRT_STATUS nrt_memcpy_to_device(void* destination, const void* source, size_t size);

NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params);
NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc);

NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output);

#ifdef __cplusplus
}
#endif
#endif
