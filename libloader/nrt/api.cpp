// SPDX-License-Identifier: MIT
#include "api.hpp"

#include "failure_report.hpp"

namespace neffld::nrt {
namespace {

/// What a user can do about an error, if there is one thing.
std::string hint_for(const Error& error) {
  if (error.text.find("different arch") != std::string::npos) {
    return "compile for this device with --target, or choose a device of the file's architecture "
           "(NEFFLD_DEVICE=sim:v2 or sim:v3)";
  }
  return {};
}

}  // namespace

NRT_STATUS public_status(const Error& error) {
  // 11 is legacy and never leaves the library (spec 07 section 2.1).
  if (error.status == Status::fail_host_mem_alloc) return NRT_RESOURCE;
  return static_cast<NRT_STATUS>(error.status);
}

NRT_STATUS finish(const char* api, const char* action, const Error& error) noexcept {
  const NRT_STATUS status = public_status(error);
  try {
    report_failure(status, api);
    log_api_error(api, fmt::format("Failed to {}: {}", action, to_sentence(error)),
                  hint_for(error));
  } catch (...) {
    // No memory for the message: the status has to do.
  }
  return status;
}

NRT_STATUS refuse(const char* api, State state) noexcept {
  try {
    if (state == State::start) {
      log_api_error(api, "NRT uninitialized");
    } else if (state == State::closed) {
      log_api_error(api, "NRT already closed");
    } else {
      log_api_error(api, fmt::format("Incompatible runtime state: {}", state_name(state)));
    }
  } catch (...) {
  }
  return state == State::start    ? NRT_UNINITIALIZED
         : state == State::closed ? NRT_CLOSED
                                  : NRT_FAILURE;
}

}  // namespace neffld::nrt
