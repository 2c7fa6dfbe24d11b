/* SPDX-License-Identifier: MIT */
/* Profiles. The option objects are real; nothing is captured yet (docs/what-executes.md). */
#ifndef NEFFLD_NRT_PROFILE_H
#define NEFFLD_NRT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename);
NRT_STATUS nrt_profile_stop(const char* filename);

NRT_STATUS nrt_profile_session_start(int32_t vnc);
NRT_STATUS nrt_profile_session_stop(int32_t vnc, uint64_t* session_id);
NRT_STATUS nrt_profile_session_serialize(uint64_t session_id, const char* filename);
NRT_STATUS nrt_profile_session_drop(uint64_t session_id);
NRT_STATUS nrt_profile_session_drop_all(int32_t vnc);

typedef struct nrt_profile_continuous_options nrt_profile_continuous_options_t;
NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options);
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir);
NRT_STATUS nrt_profile_continuous_start(nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t* options);
NRT_STATUS nrt_profile_continuous_stop(void);

/* Values of nrt_inspect_config_set_inspect_device_profile_mode(). */
typedef enum {
  NRT_INSPECT_DEVICE_PROFILE_MODE_DISABLED = 0,
  NRT_INSPECT_DEVICE_PROFILE_MODE_MODEL = 1,
  NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION = 2
} nrt_inspect_device_profile_mode_t;

/* Defaults: session 1, folder ./output, every activity, every core and event type, at most
 * 0x100000 events a core, capturing off. */
typedef struct nrt_inspect_config nrt_inspect_config_t;
NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t** options);
NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t* options);
NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t* options);
NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t* options, int session_id);
NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t* options, const char* output_dir);
NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(nrt_inspect_config_t* options,
                                                              uint64_t count);
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t* options,
                                                         uint32_t nc_idx, bool enabled);
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t* options, const char* event_type, bool enabled);
NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t* options, bool enabled);
NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t* options,
                                                         bool enabled);
NRT_STATUS nrt_inspect_config_set_inspect_device_profile_mode(
    nrt_inspect_config_t* options, nrt_inspect_device_profile_mode_t mode);
/* Activities: system_profile, device_profile, host_memory, cpu_util, all. */
NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* options, const char* activity_type,
                                           bool enabled);
/* Arrays of texts from malloc: free each text and the array, or call the last function. */
NRT_STATUS nrt_inspect_config_get_all_activity_types(const char*** types, size_t* count);
NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t* options,
                                                         const char*** types, size_t* count);
void nrt_inspect_config_free_activity_types(const char** types, size_t count);

NRT_STATUS nrt_inspect_begin(void);
NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t* options);
NRT_STATUS nrt_inspect_stop(void);
NRT_STATUS nrt_inspect_get_instance_output_dir(const char* output_dir, char* buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
