// SPDX-License-Identifier: MIT
// From what a device reported about an execution to one sentence that names engine, slot, record
// and semaphore (spec 04 sections 10 and 11).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device_calls.hpp"
#include "neffld/session.hpp"
#include "neuron_abi/execution.h"

namespace neffld {

/// An error record and the kbin whose core posted it.
struct ReportedError {
  std::uint32_t kbin = 0;
  neuron_notification record{};
};

/// What words about an execution are made of.
struct ExecutionScene {
  DeviceCalls& calls;
  const LoadedModel& model;
  std::span<const DeviceMemory> by_request;
};

/// True for the class that means nothing if the execution completed all the same: an engine waited
/// when a doorbell call ended.
bool is_stall(const ReportedError& error);

/// The error of a failed execution; `errors` is not empty. Of several the gravest status counts,
/// the first record of it is named. If all are stalls, the error is a deadlock and names every
/// engine that waits.
Error explain_errors(const ExecutionScene& scene, std::span<const ReportedError> errors);

}  // namespace neffld
