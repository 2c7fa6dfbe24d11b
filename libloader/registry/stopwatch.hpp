// SPDX-License-Identifier: MIT
// Times stages and tells a progress sink where they begin and end.
#pragma once

#include <chrono>
#include <vector>

#include "neffld/session.hpp"

namespace neffld {

class StageClock {
 public:
  StageClock(std::vector<StageTime>& times, const ProgressSink& progress)
      : times_(times), progress_(progress) {}

  void start(Stage stage, std::uint64_t total = 0) {
    stage_ = stage;
    total_ = total;
    done_ = 0;
    begin_ = std::chrono::steady_clock::now();
    report();
  }
  void advance(std::uint64_t bytes) {
    done_ += bytes;
    report();
  }
  void finish(std::uint64_t bytes) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
    times_.push_back({stage_, took.count(), bytes});
    total_ = done_ = bytes;
    report();
  }

 private:
  void report() const {
    if (progress_) progress_({stage_, done_, total_});
  }
  std::vector<StageTime>& times_;
  const ProgressSink& progress_;
  Stage stage_ = Stage::guard;
  std::uint64_t done_ = 0, total_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace neffld
