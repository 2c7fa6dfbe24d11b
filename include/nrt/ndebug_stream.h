/* SPDX-License-Identifier: MIT */
/* Debug events of a virtual core. No device here emits any, so connecting is refused. */
#ifndef NEFFLD_NDEBUG_STREAM_H
#define NEFFLD_NDEBUG_STREAM_H

#include <stdint.h>

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ndebug_stream_event_type {
  NDEBUG_STREAM_EVENT_TYPE_INVALID = 0,
  NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ = 1
} ndebug_stream_event_type_t;

typedef struct ndebug_stream_event_header {
  uint64_t data_size; /* bytes of the payload */
  uint32_t type;
  char reserved[52];
} ndebug_stream_event_header_t;

typedef struct ndebug_stream_payload_debug_tensor_read {
  char prefix[512];
  uint32_t logical_nc_id;
  uint32_t pipe;
  char tensor_dtype[16];
  uint64_t tensor_shape[8];
  uint64_t tensor_data_size;
  char reserved0[416]; /* tensor data follows, at byte 1024 */
} ndebug_stream_payload_debug_tensor_read_t;

NRT_STATUS nrt_debug_client_connect(int logical_nc_idx, int* stream_fd);
void nrt_debug_client_connect_close(int stream_fd);
NRT_STATUS nrt_debug_client_read_one_event(int stream_fd, ndebug_stream_event_header_t* header,
                                           void** payload);

#ifdef __cplusplus
}
#endif
#endif
