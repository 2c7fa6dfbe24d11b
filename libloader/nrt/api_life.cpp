// SPDX-License-Identifier: MIT
// Init, close, versions and counts.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "api.hpp"
#include "environment.hpp"
#include "nrt/nrt.h"
#include "nrt/nrt_version.h"
#include "version.hpp"

using namespace neffld;
using namespace neffld::nrt;

namespace {

/// Writes one question's answer to a count out-parameter.
NRT_STATUS answer_count(const char* api, std::uint32_t* out,
                        Result<std::uint32_t> (Runtime::*question)()) {
  return ungated(api, "count the cores", [&]() -> Result<void> {
    NEFFLD_TRY(need(out, "count"));
    NEFFLD_ASSIGN(*out, (Runtime::get().*question)());
    return {};
  });
}

template <std::size_t size>
void copy_text(char (&to)[size], std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), size - 1), to);
}

/// What other processes may know of this one. Clients pass NULL as a version, too.
StoreProcess describe_process(nrt_framework_type_t framework, const char* fw_version,
                              const char* fal_version) {
  StoreProcess process{};
  std::memcpy(process.magic, "NPRC", sizeof process.magic);
  process.framework = static_cast<std::uint32_t>(framework);
  copy_text(process.tag, get_env("NEURON_PROCESS_TAG").value_or(""));
  copy_text(process.runtime_version, runtime_version);
  copy_text(process.framework_version, fw_version == nullptr ? "" : fw_version);
  copy_text(process.fal_version, fal_version == nullptr ? "" : fal_version);
  return process;
}

}  // namespace

NRT_STATUS nrt_init(nrt_framework_type_t framework, const char* fw_version,
                    const char* fal_version) {
  return ungated("nrt_init", "initialise the runtime", [&] {
    return Runtime::get().init(describe_process(framework, fw_version, fal_version));
  });
}

void nrt_close(void) {
  ungated("nrt_close", "close the runtime", [&]() -> Result<void> {
    Runtime::get().close();
    return {};
  });
}

NRT_STATUS nrt_get_version(nrt_version_t* version, size_t size) {
  return ungated("nrt_get_version", "tell the version", [&]() -> Result<void> {
    NEFFLD_TRY(need(version, "version"));
    constexpr std::size_t least = offsetof(nrt_version_t, git_hash), with_hash = 200;
    if (size < least) {
      return fail(Status::failure, ErrorClass::usage, {},
                  fmt::format("Size is < {}: found {}", least, size));
    }
    nrt_version_t full{};
    std::uint64_t* const numbers[] = {&full.rt_major, &full.rt_minor, &full.rt_patch,
                                      &full.rt_maintenance};
    const char* text = runtime_version;
    for (std::uint64_t* number : numbers) {
      char* end = nullptr;
      *number = std::strtoull(text, &end, 10);
      text = *end == '.' ? end + 1 : end;
    }
    const std::string detail =
        fmt::format("libnrt version {} ({})", runtime_version, open_version_text());
    std::copy_n(detail.begin(), std::min(detail.size(), sizeof full.rt_detail - 1), full.rt_detail);
    const std::string id = build_id();
    std::copy_n(id.begin(), std::min(id.size(), sizeof full.git_hash - 1), full.git_hash);
    std::memcpy(version, &full, size > with_hash ? std::min(size, sizeof full) : least);
    return {};
  });
}

NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t length) {
  return ungated("nrt_get_instance_info", "tell the instance", [&]() -> Result<void> {
    NEFFLD_TRY(need(info, "info"));
    NEFFLD_ASSIGN(const nrt_instance_info_t full, Runtime::get().instance_info());
    static std::atomic<bool> warned = false;
    if (length > sizeof full && !warned.exchange(true)) {
      log(Level::warn, "NRT", "nrt_get_instance_info",
          fmt::format("the caller has room for {} bytes, {} are known", length, sizeof full));
    }
    std::memcpy(info, &full, std::min(length, sizeof full));
    return {};
  });
}

NRT_STATUS nrt_get_total_vnc_count(uint32_t* count) {
  return answer_count("nrt_get_total_vnc_count", count, &Runtime::total_cores);
}
NRT_STATUS nrt_get_total_nc_count(uint32_t* count) {
  return answer_count("nrt_get_total_nc_count", count, &Runtime::total_cores);
}
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* count) {
  return answer_count("nrt_get_visible_vnc_count", count, &Runtime::visible_cores);
}
NRT_STATUS nrt_get_visible_nc_count(uint32_t* count) {
  return answer_count("nrt_get_visible_nc_count", count, &Runtime::visible_cores);
}
