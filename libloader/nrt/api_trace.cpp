// SPDX-License-Identifier: MIT
// System traces: option objects, and the executions seen while one is on.
#include <cstdlib>
#include <cstring>
#include <new>

#include "api.hpp"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_sys_trace.h"
#include "sys_trace.hpp"
#include "text_array.hpp"

using namespace neffld;
using namespace neffld::nrt;

struct nrt_sys_trace_config {
  CaptureFilter filter;
};
struct nrt_sys_trace_fetch_options {
  std::uint64_t max_events_per_nc = UINT64_MAX;
  std::optional<std::uint64_t> nc_idx;
};

namespace {

/// Makes an option object for a caller.
template <class Options>
NRT_STATUS allocate(const char* api, Options** out) {
  return ungated(api, "allocate options", [&]() -> Result<void> {
    NEFFLD_TRY(need(out, "options"));
    *out = new Options;
    return {};
  });
}

}  // namespace

NRT_STATUS nrt_sys_trace_config_allocate(nrt_sys_trace_config_t** options) {
  return allocate("nrt_sys_trace_config_allocate", options);
}
void nrt_sys_trace_config_set_defaults(nrt_sys_trace_config_t* options) {
  if (options != nullptr) options->filter = {};
}
void nrt_sys_trace_config_free(nrt_sys_trace_config_t* options) {
  delete options;
}
void nrt_sys_trace_config_set_max_events_per_nc(nrt_sys_trace_config_t* options, uint64_t count) {
  if (options != nullptr) options->filter.max_events_per_core = count;
}
void nrt_sys_trace_config_set_capture_enabled_for_nc(nrt_sys_trace_config_t* options,
                                                     uint32_t nc_idx, bool enabled) {
  ungated("nrt_sys_trace_config_set_capture_enabled_for_nc", "set an option",
          [&]() -> Result<void> {
            NEFFLD_TRY(need(options, "options"));
            options->filter.cores[nc_idx] = enabled;
            return {};
          });
}
NRT_STATUS nrt_sys_trace_config_set_capture_enabled_for_event_type(nrt_sys_trace_config_t* options,
                                                                   const char* event_type,
                                                                   bool enabled) {
  return ungated("nrt_sys_trace_config_set_capture_enabled_for_event_type", "set an option",
                 [&]() -> Result<void> {
                   NEFFLD_TRY(need(options, "options"));
                   NEFFLD_TRY(need(event_type, "event_type"));
                   if (options->filter.set_type(event_type, enabled)) return {};
                   return fail(Status::invalid, ErrorClass::usage, {},
                               fmt::format("no event type is called '{}'", event_type));
                 });
}
NRT_STATUS nrt_sys_trace_get_event_types(const char*** types, size_t* count) {
  return ungated("nrt_sys_trace_get_event_types", "list the event types", [&]() -> Result<void> {
    NEFFLD_TRY(need(types, "event_types"));
    NEFFLD_TRY(need(count, "count"));
    return make_text_array(event_types(), types, count);
  });
}
NRT_STATUS nrt_sys_trace_config_get_enabled_event_types(nrt_sys_trace_config_t* options,
                                                        const char*** types, size_t* count) {
  return ungated("nrt_sys_trace_config_get_enabled_event_types", "list the event types",
                 [&]() -> Result<void> {
                   NEFFLD_TRY(need(options, "options"));
                   NEFFLD_TRY(need(types, "event_types"));
                   NEFFLD_TRY(need(count, "count"));
                   return make_text_array(options->filter.enabled_types(), types, count);
                 });
}
void nrt_sys_trace_free_event_types(const char** types, size_t count) {
  free_text_array(types, count);
}

NRT_STATUS nrt_sys_trace_start(nrt_sys_trace_config_t* options) {
  return gated("nrt_sys_trace_start", "start a trace", [&](Runtime& runtime) -> Result<void> {
    runtime.trace.start(options != nullptr ? options->filter : CaptureFilter());
    return {};
  });
}
NRT_STATUS nrt_sys_trace_stop(void) {
  return gated("nrt_sys_trace_stop", "stop a trace", [](Runtime& runtime) -> Result<void> {
    runtime.trace.stop();
    return {};
  });
}

NRT_STATUS nrt_sys_trace_fetch_options_allocate(nrt_sys_trace_fetch_options_t** options) {
  return allocate("nrt_sys_trace_fetch_options_allocate", options);
}
void nrt_sys_trace_fetch_options_set_defaults(nrt_sys_trace_fetch_options_t* options) {
  if (options != nullptr) *options = {};
}
void nrt_sys_trace_fetch_options_free(nrt_sys_trace_fetch_options_t* options) {
  delete options;
}
void nrt_sys_trace_fetch_options_set_max_events_per_nc(nrt_sys_trace_fetch_options_t* options,
                                                       uint64_t count) {
  if (options != nullptr) options->max_events_per_nc = count;
}
void nrt_sys_trace_fetch_options_set_nc_idx(nrt_sys_trace_fetch_options_t* options,
                                            uint64_t nc_idx) {
  if (options != nullptr) options->nc_idx = nc_idx;
}

NRT_STATUS nrt_sys_trace_fetch_events(char** buffer, size_t* written_size,
                                      const nrt_sys_trace_fetch_options_t* options) {
  return gated("nrt_sys_trace_fetch_events", "fetch events", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(need(buffer, "buffer"));
    NEFFLD_TRY(need(written_size, "written_size"));
    const nrt_sys_trace_fetch_options_t wanted =
        options != nullptr ? *options : nrt_sys_trace_fetch_options_t();
    const std::string events = runtime.trace.fetch(wanted.max_events_per_nc, wanted.nc_idx);
    char* const text = strdup(events.c_str());
    if (text == nullptr) {
      return fail(Status::resource, ErrorClass::resource, {}, "out of host memory");
    }
    *buffer = text;
    *written_size = events.size();
    return {};
  });
}
void nrt_sys_trace_buffer_free(char* buffer) {
  std::free(buffer);
}
