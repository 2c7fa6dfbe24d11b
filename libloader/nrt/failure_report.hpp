// SPDX-License-Identifier: MIT
// What the log says about the surroundings of a failure (spec 07 section 5.3).
#pragma once

#include "nrt/nrt_status.h"

namespace neffld::nrt {

/// Severity when several statuses meet (spec 07 section 2.1): 0 none, 1 medium, 2 high, 3 critical.
int status_rank(NRT_STATUS status);

/// Logs versions, machine, visible cores and environment, once for each severity.
void report_failure(NRT_STATUS status, const char* api);
/// Lets every severity report again.
void reset_failure_reports();

}  // namespace neffld::nrt
