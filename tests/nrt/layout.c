/* SPDX-License-Identifier: MIT */
/* Pins values and layouts of the public headers (spec 07 section 2). Compiled as C and as C++. */
#include <stddef.h>

#include "nrt/ndebug_stream.h"
#include "nrt/nec.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_async_sendrecv.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"
#include "nrt/nrt_version.h"

#ifdef __cplusplus
#define PIN(condition) static_assert(condition, #condition)
#else
#define PIN(condition) _Static_assert(condition, #condition)
#endif
#define PIN_VALUE(name, value) PIN((int)(name) == (value))
#define PIN_SIZE(type, size) PIN(sizeof(type) == (size))
#define PIN_AT(type, field, at) PIN(offsetof(type, field) == (at))

PIN_SIZE(NRT_STATUS, 4);
PIN_VALUE(NRT_SUCCESS, 0);
PIN_VALUE(NRT_FAILURE, 1);
PIN_VALUE(NRT_INVALID, 2);
PIN_VALUE(NRT_INVALID_HANDLE, 3);
PIN_VALUE(NRT_RESOURCE, 4);
PIN_VALUE(NRT_TIMEOUT, 5);
PIN_VALUE(NRT_HW_ERROR, 6);
PIN_VALUE(NRT_QUEUE_FULL, 7);
PIN_VALUE(NRT_LOAD_NOT_ENOUGH_NC, 9);
PIN_VALUE(NRT_UNSUPPORTED_NEFF_VERSION, 10);
PIN_VALUE(NRT_FAIL_HOST_MEM_ALLOC, 11);
PIN_VALUE(NRT_UNINITIALIZED, 13);
PIN_VALUE(NRT_CLOSED, 14);
PIN_VALUE(NRT_QUEUE_EMPTY, 15);
PIN_VALUE(NRT_EXEC_UNIT_UNRECOVERABLE, 101);
PIN_VALUE(NRT_EXEC_BAD_INPUT, 1002);
PIN_VALUE(NRT_EXEC_COMPLETED_WITH_NUM_ERR, 1003);
PIN_VALUE(NRT_EXEC_COMPLETED_WITH_ERR, 1004);
PIN_VALUE(NRT_EXEC_NC_BUSY, 1005);
PIN_VALUE(NRT_EXEC_OOB, 1006);
PIN_VALUE(NRT_COLL_PENDING, 1100);
PIN_VALUE(NRT_EXEC_HW_ERR_COLLECTIVES, 1200);
PIN_VALUE(NRT_EXEC_HW_ERR_HBM_UE, 1201);
PIN_VALUE(NRT_EXEC_HW_ERR_NC_UE, 1202);
PIN_VALUE(NRT_EXEC_HW_ERR_DMA_ABORT, 1203);
PIN_VALUE(NRT_EXEC_SW_NQ_OVERFLOW, 1204);
PIN_VALUE(NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE, 1205);
PIN_VALUE(NRT_NETWORK_PROXY_FAILURE, 1206);

PIN_VALUE(NRT_TENSOR_PLACEMENT_DEVICE, 0);
PIN_VALUE(NRT_TENSOR_PLACEMENT_HOST, 1);
PIN_VALUE(NRT_TENSOR_PLACEMENT_VIRTUAL, 2);
PIN_VALUE(NRT_FRAMEWORK_TYPE_INVALID, 0);
PIN_VALUE(NRT_FRAMEWORK_TYPE_NO_FW, 1);
PIN_VALUE(NRT_FRAMEWORK_TYPE_TENSORFLOW, 2);
PIN_VALUE(NRT_FRAMEWORK_TYPE_PYTORCH, 3);
PIN_VALUE(NRT_FRAMEWORK_TYPE_MXNET, 4);
PIN_VALUE(NRT_FRAMEWORK_TYPE_PRECHECK, 5);
PIN_VALUE(NRT_DTYPE_UNKNOWN, 0);
PIN_VALUE(NRT_DTYPE_INVALID, 0);
PIN_VALUE(NRT_DTYPE_UINT64, 1);
PIN_VALUE(NRT_DTYPE_INT8, 2);
PIN_VALUE(NRT_DTYPE_UINT8, 3);
PIN_VALUE(NRT_DTYPE_INT16, 4);
PIN_VALUE(NRT_DTYPE_UINT16, 5);
PIN_VALUE(NRT_DTYPE_BFLOAT16, 6);
PIN_VALUE(NRT_DTYPE_FLOAT16, 7);
PIN_VALUE(NRT_DTYPE_INT32, 8);
PIN_VALUE(NRT_DTYPE_UINT32, 9);
PIN_VALUE(NRT_DTYPE_FLOAT32, 10);
PIN_VALUE(NRT_DTYPE_FP32R, 11);
PIN_VALUE(NRT_DTYPE_INT64, 12);
PIN_VALUE(NRT_DTYPE_FP8_E3, 13);
PIN_VALUE(NRT_DTYPE_FP8_E4, 14);
PIN_VALUE(NRT_DTYPE_FP8_E5, 15);
PIN_VALUE(NRT_TENSOR_USAGE_INPUT, 0);
PIN_VALUE(NRT_TENSOR_USAGE_OUTPUT, 1);
PIN_VALUE(NRT_TENSOR_NAME_MAX, 256);
PIN_VALUE(NRT_OP_ADD, 0);
PIN_VALUE(NRT_OP_FMA, 1);
PIN_VALUE(NRT_OP_MAX, 2);
PIN_VALUE(NRT_OP_MIN, 3);
PIN_VALUE(NRT_OP_INVALID, 15);
PIN_VALUE(NRT_CC_ALLGATHER, 0);
PIN_VALUE(NRT_CC_ALLREDUCE, 1);
PIN_VALUE(NRT_CC_REDUCESCATTER, 2);
PIN_VALUE(NRT_INSTANCE_UNKNOWN, 0);
PIN_VALUE(NRT_INSTANCE_INF1, 1);
PIN_VALUE(NRT_INSTANCE_TRN1, 2);
PIN_VALUE(NRT_INSTANCE_TRN1N, 3);
PIN_VALUE(NRT_INSTANCE_INF2, 4);
PIN_VALUE(NRT_INSTANCE_TRN2, 5);
PIN_VALUE(NRT_INSTANCE_TRN2N, 6);
PIN_VALUE(NRT_INSTANCE_INF2E, 7);
PIN_VALUE(NRT_INSTANCE_TRN2P, 8);
PIN_VALUE(NRT_INSTANCE_TRN2U, 9);
PIN_VALUE(NRT_INSTANCE_TRN2E, 10);
PIN_VALUE(NRT_INSTANCE_TRN2EU, 11);
PIN_VALUE(NRT_INSTANCE_TRN2AC, 12);
PIN_VALUE(NRT_INSTANCE_TRN2UAC, 13);
PIN_VALUE(NRT_INSTANCE_TRN3, 14);
PIN_VALUE(NRT_INSTANCE_TRN3PDS98, 15);
PIN_VALUE(NRT_INSTANCE_SIZE_1XL, 0);
PIN_VALUE(NRT_INSTANCE_SIZE_2XL, 1);
PIN_VALUE(NRT_INSTANCE_SIZE_4XL, 2);
PIN_VALUE(NRT_INSTANCE_SIZE_6XL, 3);
PIN_VALUE(NRT_INSTANCE_SIZE_8XL, 4);
PIN_VALUE(NRT_INSTANCE_SIZE_24XL, 5);
PIN_VALUE(NRT_INSTANCE_SIZE_32XL, 6);
PIN_VALUE(NRT_INSTANCE_SIZE_48XL, 7);
PIN_VALUE(NRT_INSTANCE_SIZE_3XL, 8);
PIN_VALUE(NRT_INSTANCE_SIZE_UNKNOWN, 9);
PIN_VALUE(NRT_INSTANCE_SIZE_NUM, 9);
PIN_VALUE(NRTA_XU_TENSOR_OP, 0);
PIN_VALUE(NRTA_XU_COMPUTE, 1);
PIN_VALUE(NRTA_XU_COLLECTIVES, 2);
PIN_VALUE(NRTA_XU_TYPE_NUM, 3);
PIN_VALUE(NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ, 1);
PIN_VALUE(NEC_POD_TYPE_INVALID, 3);
PIN_VALUE(NRT_MAJOR_VERSION, 2);
PIN_VALUE(NRT_MINOR_VERSION, 0);

PIN_SIZE(nrt_version_t, 224);
PIN_AT(nrt_version_t, rt_maintenance, 24);
PIN_AT(nrt_version_t, rt_detail, 32);
PIN_AT(nrt_version_t, git_hash, 160);
PIN_SIZE(nrt_instance_info_t, 32);
PIN_AT(nrt_instance_info_t, arch_name, 8);
PIN_AT(nrt_instance_info_t, device_revision, 24);
PIN_SIZE(nrt_tensor_info_t, 296);
PIN_AT(nrt_tensor_info_t, usage, 256);
PIN_AT(nrt_tensor_info_t, size, 264);
PIN_AT(nrt_tensor_info_t, dtype, 272);
PIN_AT(nrt_tensor_info_t, shape, 280);
PIN_AT(nrt_tensor_info_t, ndim, 288);
PIN_SIZE(nrt_tensor_info_array_t, 8);
PIN_AT(nrt_tensor_info_array_t, tensor_array, 8);
PIN_SIZE(nrt_model_info_t, 4);
PIN_SIZE(nrt_vnc_memory_stats_t, 16);
PIN_AT(nrt_vnc_memory_stats_t, bytes_limit, 8);
PIN_SIZE(nrt_tensor_device_allocation_info_t, 24);
PIN_AT(nrt_tensor_device_allocation_info_t, size, 8);
PIN_AT(nrt_tensor_device_allocation_info_t, hbm_index, 16);
PIN_SIZE(nrt_tensor_batch_op_t, 24);
PIN_AT(nrt_tensor_batch_op_t, size, 8);
PIN_AT(nrt_tensor_batch_op_t, buffer, 16);
PIN_SIZE(nrt_tensor_batch_t, 24);
PIN_AT(nrt_tensor_batch_t, ops, 8);
PIN_AT(nrt_tensor_batch_t, num_ops, 16);
PIN_SIZE(nrt_ucode_img, 16);
PIN_SIZE(nrt_ucode_info, 32);
PIN_SIZE(nrt_cc_comm_t, 32);
PIN_AT(nrt_cc_comm_t, rank, 8);
PIN_AT(nrt_cc_comm_t, ctx_device_id, 16);
PIN_AT(nrt_cc_comm_t, vnc, 24);
PIN_SIZE(nrt_tensor_list_t, 16);
PIN_SIZE(nrta_error_t, 16);
PIN_SIZE(nec_version_info_t, 56);
PIN_AT(nec_version_info_t, git_hash, 32);
PIN_AT(nec_version_info_t, compatibility_version, 48);
PIN_SIZE(ndebug_stream_event_header_t, 64);
PIN_AT(ndebug_stream_event_header_t, type, 8);
PIN_SIZE(ndebug_stream_payload_debug_tensor_read_t, 1024);
PIN_AT(ndebug_stream_payload_debug_tensor_read_t, logical_nc_id, 512);
PIN_AT(ndebug_stream_payload_debug_tensor_read_t, tensor_dtype, 520);
PIN_AT(ndebug_stream_payload_debug_tensor_read_t, tensor_shape, 536);
PIN_AT(ndebug_stream_payload_debug_tensor_read_t, tensor_data_size, 600);
