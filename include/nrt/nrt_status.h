/* SPDX-License-Identifier: MIT */
/* Status codes of the runtime's C API (spec 07 section 2.1). */
#ifndef NEFFLD_NRT_STATUS_H
#define NEFFLD_NRT_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Values are fixed; 8 and 12 are unused. */
typedef enum {
  NRT_SUCCESS = 0,
  NRT_FAILURE = 1,                   /* no better status fits; also: in a forked child */
  NRT_INVALID = 2,                   /* bad argument, malformed NEFF, unsupported feature */
  NRT_INVALID_HANDLE = 3,            /* the model handle is unknown or already unloaded */
  NRT_RESOURCE = 4,                  /* memory, queues or descriptors are not enough */
  NRT_TIMEOUT = 5,                   /* a wait expired */
  NRT_HW_ERROR = 6,                  /* the hardware failed */
  NRT_QUEUE_FULL = 7,                /* the execution queue is full */
  NRT_LOAD_NOT_ENOUGH_NC = 9,        /* too few cores for the NEFF */
  NRT_UNSUPPORTED_NEFF_VERSION = 10, /* container version, packager or feature not supported */
  NRT_FAIL_HOST_MEM_ALLOC = 11,      /* legacy, never returned */
  NRT_UNINITIALIZED = 13,            /* nrt_init() has not succeeded */
  NRT_CLOSED = 14,                   /* nrt_close() is running */
  NRT_QUEUE_EMPTY = 15,              /* nothing to take */

  NRT_EXEC_UNIT_UNRECOVERABLE = 101,
  NRT_EXEC_BAD_INPUT = 1002,
  NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003, /* ran; a result is NaN or infinite */
  NRT_EXEC_COMPLETED_WITH_ERR = 1004,     /* ran; another error was reported */
  NRT_EXEC_NC_BUSY = 1005,                /* the core belongs to somebody else */
  NRT_EXEC_OOB = 1006,                    /* indirect access out of bounds */
  NRT_COLL_PENDING = 1100,                /* ask again */
  NRT_EXEC_HW_ERR_COLLECTIVES = 1200,
  NRT_EXEC_HW_ERR_HBM_UE = 1201,
  NRT_EXEC_HW_ERR_NC_UE = 1202,
  NRT_EXEC_HW_ERR_DMA_ABORT = 1203,
  NRT_EXEC_SW_NQ_OVERFLOW = 1204,
  NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,
  NRT_NETWORK_PROXY_FAILURE = 1206
} NRT_STATUS;

/* The identifier of a status as text, "UNKNOWN" for any other value. Static storage, never NULL. */
const char* nrt_get_status_as_str(NRT_STATUS status);

#ifdef __cplusplus
}
#endif
#endif
