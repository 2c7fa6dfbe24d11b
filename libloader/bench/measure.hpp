// SPDX-License-Identifier: MIT
// Time, page faults and memory of pieces of work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "neffld/error.hpp"

namespace neffld::bench {

/// Minor page faults of the process so far (getrusage).
std::uint64_t minor_faults();

/// The fastest of several runs of the same work, because other work on the machine only adds time.
class Best {
 public:
  /// Runs `work` (a callable that returns Result<void>) and keeps its time if it is the best.
  template <class Work>
  Result<void> run(Work work) {
    const std::uint64_t before = minor_faults();
    const auto begin = std::chrono::steady_clock::now();
    Result<void> done = work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (done) take(took.count(), minor_faults() - before);
    return done;
  }
  void take(double seconds, std::uint64_t faults = 0) {
    if (taken_ && seconds >= seconds_) return;
    taken_ = true;
    seconds_ = seconds;
    faults_ = faults;
  }
  bool taken() const { return taken_; }
  double seconds() const { return seconds_; }
  std::uint64_t faults() const { return faults_; }  ///< of that run

 private:
  bool taken_ = false;
  double seconds_ = 0;
  std::uint64_t faults_ = 0;
};

/// Resets the kernel's record of the process's peak memory and tells later how far it rose.
class PeakMemory {
 public:
  PeakMemory();
  /// Bytes above what was resident at the start; nothing if the system does not tell.
  std::optional<std::uint64_t> bytes() const;

 private:
  std::optional<std::uint64_t> before_;
};

}  // namespace neffld::bench
