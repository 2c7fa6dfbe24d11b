// SPDX-License-Identifier: MIT
// Profiles: the option objects are real, nothing is captured (spec 07 section 3.13).
#include <filesystem>

#include "api.hpp"
#include "models.hpp"
#include "nrt/nrt_profile.h"
#include "sys_trace.hpp"
#include "text_array.hpp"

using namespace neffld;
using namespace neffld::nrt;

struct nrt_profile_continuous_options {
  std::string output_dir = "./output";
};

struct nrt_inspect_config {
  int session_id = 1;
  std::string output_dir = "./output";
  std::uint32_t activities = 255;
  CaptureFilter filter;
  bool enabled = false, enabled_on_fail = false;
  nrt_inspect_device_profile_mode_t device_profile_mode = NRT_INSPECT_DEVICE_PROFILE_MODE_DISABLED;
};

namespace {

struct Activity {
  std::string_view name;
  std::uint32_t bits;
};
constexpr Activity activities[] = {{"system_profile", 1},
                                   {"device_profile", 2},
                                   {"host_memory", 4},
                                   {"cpu_util", 8},
                                   {"all", 255}};

/// The names whose bits are all in `mask`; "all" only names the whole.
std::vector<std::string_view> activity_names(std::uint32_t mask, bool with_all) {
  std::vector<std::string_view> names;
  for (const auto& [name, bits] : activities) {
    if ((mask & bits) == bits && (with_all || bits != 255)) names.push_back(name);
  }
  return names;
}

tl::unexpected<Error> bad(std::string text) {
  return fail(Status::invalid, ErrorClass::usage, {}, std::move(text));
}

/// Changes an option object that may not be NULL.
template <class Options, class Change>
NRT_STATUS change(const char* api, Options* options, Change&& apply) {
  return ungated(api, "set an option", [&]() -> Result<void> {
    NEFFLD_TRY(need(options, "options"));
    return apply(*options);
  });
}

Result<void> set_folder(std::string& folder, const char* path) {
  NEFFLD_TRY(need(path, "output_dir"));
  if (*path == 0) return bad("output_dir is empty");
  folder = path;
  return {};
}

/// The profile file a model's profile was announced for exists, empty.
Result<void> create_empty_file(const char* filename) {
  NEFFLD_TRY(need(filename, "filename"));
  return write_file(filename, {});
}

}  // namespace

NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename) {
  return gated("nrt_profile_start", "start a profile", [&](Runtime& runtime) -> Result<void> {
    NEFFLD_TRY(find_model(runtime, model));
    return create_empty_file(filename);
  });
}
NRT_STATUS nrt_profile_stop(const char* filename) {
  return gated("nrt_profile_stop", "stop a profile", [&](Runtime&) -> Result<void> {
    NEFFLD_TRY(need(filename, "filename"));
    std::error_code error;
    if (!std::filesystem::exists(filename, error)) return create_empty_file(filename);
    return {};
  });
}

NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options) {
  return ungated("nrt_profile_continuous_options_allocate", "allocate options",
                 [&]() -> Result<void> {
                   NEFFLD_TRY(need(options, "options"));
                   *options = new nrt_profile_continuous_options;
                   return {};
                 });
}
NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options) {
  delete options;
  return NRT_SUCCESS;
}
NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir) {
  return change("nrt_profile_continuous_options_set_output_dir", options,
                [&](auto& o) { return set_folder(o.output_dir, output_dir); });
}

NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t** options) {
  return ungated("nrt_inspect_config_allocate", "allocate options", [&]() -> Result<void> {
    NEFFLD_TRY(need(options, "options"));
    *options = new nrt_inspect_config;
    return {};
  });
}
NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t* options) {
  return change("nrt_inspect_config_set_defaults", options, [](auto& o) -> Result<void> {
    o = {};
    return {};
  });
}
NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t* options) {
  delete options;
  return NRT_SUCCESS;
}
NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t* options, int session_id) {
  return change("nrt_inspect_config_set_session_id", options, [&](auto& o) -> Result<void> {
    o.session_id = session_id;
    return {};
  });
}
NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t* options,
                                             const char* output_dir) {
  return change("nrt_inspect_config_set_output_dir", options,
                [&](auto& o) { return set_folder(o.output_dir, output_dir); });
}
NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(nrt_inspect_config_t* options,
                                                              uint64_t count) {
  return change("nrt_inspect_config_set_sys_trace_max_events_per_nc", options,
                [&](auto& o) -> Result<void> {
                  o.filter.max_events_per_core = count;
                  return {};
                });
}
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t* options,
                                                         uint32_t nc_idx, bool enabled) {
  return change("nrt_inspect_config_set_capture_enabled_for_nc", options,
                [&](auto& o) -> Result<void> {
                  o.filter.cores[nc_idx] = enabled;
                  return {};
                });
}
NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t* options, const char* event_type, bool enabled) {
  return change("nrt_inspect_config_set_capture_enabled_for_event_type_string", options,
                [&](auto& o) -> Result<void> {
                  NEFFLD_TRY(need(event_type, "event_type"));
                  if (o.filter.set_type(event_type, enabled)) return {};
                  return bad(fmt::format("no event type is called '{}'", event_type));
                });
}
NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t* options, bool enabled) {
  return change("nrt_inspect_config_set_enable_inspect", options, [&](auto& o) -> Result<void> {
    o.enabled = enabled;
    return {};
  });
}
NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t* options,
                                                         bool enabled) {
  return change("nrt_inspect_config_set_enable_inspect_on_fail", options,
                [&](auto& o) -> Result<void> {
                  o.enabled_on_fail = enabled;
                  return {};
                });
}
NRT_STATUS nrt_inspect_config_set_inspect_device_profile_mode(
    nrt_inspect_config_t* options, nrt_inspect_device_profile_mode_t mode) {
  return change("nrt_inspect_config_set_inspect_device_profile_mode", options,
                [&](auto& o) -> Result<void> {
                  if (static_cast<int>(mode) < NRT_INSPECT_DEVICE_PROFILE_MODE_DISABLED ||
                      static_cast<int>(mode) > NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION) {
                    return bad(fmt::format("mode is {}, expected 0 to 2", static_cast<int>(mode)));
                  }
                  o.device_profile_mode = mode;
                  return {};
                });
}
NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* options, const char* activity_type,
                                           bool enabled) {
  return change("nrt_inspect_config_set_activity", options, [&](auto& o) -> Result<void> {
    NEFFLD_TRY(need(activity_type, "activity_type"));
    for (const auto& [name, bits] : activities) {
      if (name != activity_type) continue;
      o.activities = enabled ? o.activities | bits : o.activities & ~bits;
      return {};
    }
    return bad(fmt::format("no activity is called '{}'", activity_type));
  });
}
NRT_STATUS nrt_inspect_config_get_all_activity_types(const char*** types, size_t* count) {
  return ungated("nrt_inspect_config_get_all_activity_types", "list the activities",
                 [&]() -> Result<void> {
                   NEFFLD_TRY(need(types, "activity_types"));
                   NEFFLD_TRY(need(count, "count"));
                   return make_text_array(activity_names(255, true), types, count);
                 });
}
NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t* options,
                                                         const char*** types, size_t* count) {
  return change("nrt_inspect_config_get_enabled_activity_types", options,
                [&](auto& o) -> Result<void> {
                  NEFFLD_TRY(need(types, "activity_types"));
                  NEFFLD_TRY(need(count, "count"));
                  return make_text_array(activity_names(o.activities, false), types, count);
                });
}
void nrt_inspect_config_free_activity_types(const char** types, size_t count) {
  free_text_array(types, count);
}
