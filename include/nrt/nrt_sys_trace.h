/* SPDX-License-Identifier: MIT */
/* Events of the runtime itself: what to capture, and fetching it as JSON. */
#ifndef NEFFLD_NRT_SYS_TRACE_H
#define NEFFLD_NRT_SYS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nrt_sys_trace_config nrt_sys_trace_config_t;
NRT_STATUS nrt_sys_trace_config_allocate(nrt_sys_trace_config_t** options);
void nrt_sys_trace_config_set_defaults(nrt_sys_trace_config_t* options);
void nrt_sys_trace_config_free(nrt_sys_trace_config_t* options);
void nrt_sys_trace_config_set_max_events_per_nc(nrt_sys_trace_config_t* options, uint64_t count);
void nrt_sys_trace_config_set_capture_enabled_for_nc(nrt_sys_trace_config_t* options,
                                                     uint32_t nc_idx, bool enabled);
/* NRT_INVALID for a type that nrt_sys_trace_get_event_types() does not list. */
NRT_STATUS nrt_sys_trace_config_set_capture_enabled_for_event_type(nrt_sys_trace_config_t* options,
                                                                   const char* event_type,
                                                                   bool enabled);
/* Arrays of texts from malloc: free each text and the array, or call the free function. */
NRT_STATUS nrt_sys_trace_get_event_types(const char*** event_types, size_t* count);
NRT_STATUS nrt_sys_trace_config_get_enabled_event_types(nrt_sys_trace_config_t* options,
                                                        const char*** event_types, size_t* count);
void nrt_sys_trace_free_event_types(const char** event_types, size_t count);

/* NULL options are the defaults. */
NRT_STATUS nrt_sys_trace_start(nrt_sys_trace_config_t* options);
NRT_STATUS nrt_sys_trace_stop(void);

typedef struct nrt_sys_trace_fetch_options nrt_sys_trace_fetch_options_t;
NRT_STATUS nrt_sys_trace_fetch_options_allocate(nrt_sys_trace_fetch_options_t** options);
void nrt_sys_trace_fetch_options_set_defaults(nrt_sys_trace_fetch_options_t* options);
void nrt_sys_trace_fetch_options_free(nrt_sys_trace_fetch_options_t* options);
void nrt_sys_trace_fetch_options_set_max_events_per_nc(nrt_sys_trace_fetch_options_t* options,
                                                       uint64_t count);
void nrt_sys_trace_fetch_options_set_nc_idx(nrt_sys_trace_fetch_options_t* options,
                                            uint64_t nc_idx);

/* Takes the captured events as one JSON text that ends with NUL; `*written_size` is its length.
 * Give it back with nrt_sys_trace_buffer_free(). NULL options are the defaults. */
NRT_STATUS nrt_sys_trace_fetch_events(char** buffer, size_t* written_size,
                                      const nrt_sys_trace_fetch_options_t* options);
void nrt_sys_trace_buffer_free(char* buffer);

#ifdef __cplusplus
}
#endif
#endif
