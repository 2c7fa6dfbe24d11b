// SPDX-License-Identifier: MIT
// Executes a plan on a device: allocate in order, then fill every section (spec 03 section 2,
// spec 04 section 2.2). Nothing here decides anything; the plan and relocation did.
#pragma once

#include <functional>
#include <vector>

#include "device_calls.hpp"
#include "neffld/plan.hpp"
#include "neffld/relocate.hpp"

namespace neffld {

/// Allocates `requests` in order and adds them to `list`; on failure the list ends before the
/// request that failed.
Result<void> allocate_all(DeviceCalls& calls, std::span<const Request> requests,
                          AllocationList& list);

/// Pages start where variables can use them, and contiguous ones lie right below one another (spec
/// 03 sections 4.1 and 4.2 item 5): the driver promises neither.
Result<void> check_pages(const Plan& plan, const Addresses& addresses);

/// A sink that writes each section to the device memory of its request.
SectionSink device_sink(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                        const Plan& plan, std::function<void(std::uint64_t)> copied);

/// A sink that reads each section back and compares; error class check on the first difference.
SectionSink compare_sink(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                         const Plan& plan, std::uint64_t& compared);

/// Bytes relocation will write for a plan: what progress is measured against.
std::uint64_t planned_content_bytes(const Plan& plan);

/// The queue initialisations of one core in order: ACT, DVE, then static or, with `templates`,
/// bound template sets, instance 0 only (decision 33).
std::vector<neuron_dma_queue_init> queue_inits(const KbinPlan& kbin,
                                               const std::vector<DeviceMemory>& by_request,
                                               bool templates);
/// Those of a model, cores ascending.
std::vector<neuron_dma_queue_init> queue_inits(const Plan& plan,
                                               const std::vector<DeviceMemory>& by_request,
                                               bool templates);

}  // namespace neffld
