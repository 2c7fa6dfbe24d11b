/* SPDX-License-Identifier: MIT */
/* Version of the runtime library (spec 07 section 3.3). */
#ifndef NEFFLD_NRT_VERSION_H
#define NEFFLD_NRT_VERSION_H

#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_VERSION_DETAIL_LEN 128
#define GIT_HASH_LEN 64

typedef struct nrt_version {
  uint64_t rt_major;
  uint64_t rt_minor;
  uint64_t rt_patch;
  uint64_t rt_maintenance;
  char rt_detail[RT_VERSION_DETAIL_LEN]; /* readable text */
  char git_hash[GIT_HASH_LEN];           /* build id */
} nrt_version_t;

/* Fills the first `size` bytes of `*version` in whole fields. NRT_FAILURE if `size` is below 160.
 * Works in every state. */
NRT_STATUS nrt_get_version(nrt_version_t* version, size_t size);

#ifdef __cplusplus
}
#endif
#endif
