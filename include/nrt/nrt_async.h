/* SPDX-License-Identifier: MIT */
/* Explicit asynchronous requests. Not supported: every function answers NRT_INVALID and touches no
 * argument (docs/what-executes.md). The prototypes are those of library level 2.31. */
#ifndef NEFFLD_NRT_ASYNC_H
#define NEFFLD_NRT_ASYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Units that run requests. */
typedef enum {
  NRTA_XU_TENSOR_OP = 0,
  NRTA_XU_COMPUTE = 1,
  NRTA_XU_COLLECTIVES = 2,
  NRTA_XU_TYPE_NUM = 3
} nrta_xu_t;

/* The top 16 bits name the unit, the low 48 count its requests. */
typedef uint64_t nrta_seq_t;
typedef uint16_t nrta_xu_id_t;
#define NRTA_SEQ_NUM_MAX ((1ull << 48) - 1)
#define NRTA_SEQ_NUM_MASK NRTA_SEQ_NUM_MAX
#define NRTA_SEQ_GET_SEQ_NUM(seq_id) ((seq_id)&NRTA_SEQ_NUM_MASK)
#define NRTA_SEQ_GET_XU_ID(seq_id) ((seq_id) >> 48)

typedef struct nrta_error {
  nrta_seq_t seq_id;
  uint64_t error_code; /* an NRT_STATUS */
} nrta_error_t;
typedef struct nrta_error_tracker nrta_error_tracker_t;

NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buffer, uint64_t offset,
                             uint64_t size, int lnc_idx, int queue, NRT_STATUS* exec_ret,
                             nrta_seq_t* sequence);
NRT_STATUS nrta_tensor_read(void* buffer, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int lnc_idx, int queue, NRT_STATUS* exec_ret, nrta_seq_t* sequence);
NRT_STATUS nrta_tensor_copy(nrt_tensor_t* source, uint64_t source_offset, nrt_tensor_t* destination,
                            uint64_t destination_offset, uint64_t size, int lnc_idx, int queue,
                            NRT_STATUS* exec_ret, nrta_seq_t* sequence);
NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input,
                                 nrt_tensor_set_t* output, int queue, NRT_STATUS* exec_ret,
                                 nrta_seq_t* sequence);
NRT_STATUS nrta_cc_prepare(nrt_cc_comm_t* comm, nrt_tensor_list_t* input, nrt_tensor_list_t* output,
                           nrt_dtype_t dtype, nrt_op_type_t op, nrt_cc_op_type_t cc_op,
                           nrt_cc_context_t** context);
NRT_STATUS nrta_cc_schedule(nrt_cc_context_t** context, int queue, NRT_STATUS* exec_ret,
                            nrta_seq_t* sequence);
NRT_STATUS nrta_is_completed(nrta_seq_t sequence, bool* is_completed);
NRT_STATUS nrta_get_sequence(uint32_t lnc_idx, nrta_xu_t unit, int queue, nrta_seq_t* sequence);
NRT_STATUS nrta_get_completion_handle(nrta_seq_t sequence, int* fd);
NRT_STATUS nrta_error_tracker_create(uint32_t lnc_idx, nrta_error_tracker_t** tracker);
void nrta_error_tracker_destroy(nrta_error_tracker_t* tracker);
NRT_STATUS nrta_error_tracker_get_list(nrta_error_tracker_t* tracker, const nrta_error_t** list,
                                       size_t* count);

#ifdef __cplusplus
}
#endif
#endif
