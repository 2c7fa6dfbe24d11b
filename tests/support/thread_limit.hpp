// SPDX-License-Identifier: MIT
// Takes the place of pthread_create() in a test program, so that a thread can be made to be
// missing.
#pragma once

namespace neffld::test {

/// From now on the `nth` thread (from 1) that is started fails with EAGAIN, as it does when the
/// process has too many; once. 0: none does.
void fail_thread(unsigned nth);
/// Threads started since the last call of fail_thread().
unsigned started_threads();

}  // namespace neffld::test
