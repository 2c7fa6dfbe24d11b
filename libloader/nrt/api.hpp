// SPDX-License-Identifier: MIT
// The shell of every exported function: state gate, no exception out, status and log line from an
// error (spec 07 section 3.0).
#pragma once

#include <fmt/format.h>

#include <string>

#include "log.hpp"
#include "neffld/error.hpp"
#include "nrt/nrt_status.h"
#include "runtime.hpp"

namespace neffld::nrt {

/// The status a caller gets for an error.
NRT_STATUS public_status(const Error& error);
/// Logs a failed call and returns its status. `action` completes "Failed to ..".
NRT_STATUS finish(const char* api, const char* action, const Error& error) noexcept;
/// Logs that the state keeps a call out and returns the status that says so.
NRT_STATUS refuse(const char* api, State state) noexcept;

/// The error of a parameter that may not be NULL.
inline tl::unexpected<Error> null_argument(const char* name) {
  return fail(Status::invalid, ErrorClass::usage, {}, fmt::format("{} is NULL", name));
}
inline Result<void> need(const void* argument, const char* name) {
  if (argument != nullptr) return {};
  return null_argument(name);
}

/// A function that works in every state. `body` returns a Result<void>.
template <class Body>
NRT_STATUS ungated(const char* api, const char* action, Body&& body) noexcept {
  try {
    const LogScope scope(api);
    const Result<void> done = guarded([&] { return body(); });
    return done ? NRT_SUCCESS : finish(api, action, done.error());
  } catch (...) {
    return NRT_RESOURCE;
  }
}

/// A function that works between init and close. `body(Runtime&)` returns a Result<void>.
template <class Body>
NRT_STATUS gated(const char* api, const char* action, Body&& body) noexcept {
  try {
    const LogScope scope(api);
    Runtime& runtime = Runtime::get();
    const Runtime::Call call(runtime);
    if (call.state() != State::init) return refuse(api, call.state());
    const Result<void> done = guarded([&] { return body(runtime); });
    return done ? NRT_SUCCESS : finish(api, action, done.error());
  } catch (...) {
    return NRT_RESOURCE;
  }
}

}  // namespace neffld::nrt
