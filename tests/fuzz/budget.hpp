// SPDX-License-Identifier: MIT
#pragma once

#include <ctime>

#include "support.hpp"

namespace neffld::fuzz {

/// Processor time that one input may take, in seconds: what other programs of the machine do does
/// not count.
inline constexpr double most_seconds = 1;

/// Processor time of this program so far, in seconds.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Runs one input; taking longer than it may is a finding. Returns the seconds.
inline double run_timed(const Target& target, Bytes input) {
  const double begin = processor_seconds();
  target.run(input);
  const double seconds = processor_seconds() - begin;
  promise(seconds <= most_seconds, "an input takes at most a second", target.name);
  return seconds;
}

}  // namespace neffld::fuzz
