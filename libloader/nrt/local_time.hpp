// SPDX-License-Identifier: MIT
// Local time that a forked child can ask for, too: the C library guards its own with a lock, which
// may be that of a thread the child does not have.
#pragma once

#include <chrono>
#include <ctime>

namespace neffld::nrt {

/// `time` on the clocks of this place. In a forked child by the offset that held at the fork.
std::chrono::local_seconds local_time(std::time_t time);

/// Around fork(2).
void take_local_time_before_fork();
void keep_local_time_in_child();

}  // namespace neffld::nrt
