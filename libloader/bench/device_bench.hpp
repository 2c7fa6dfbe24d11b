// SPDX-License-Identifier: MIT
// Whole loads on simulated devices.
#pragma once

#include <memory>
#include <span>

#include "sections.hpp"
#include "subject.hpp"

namespace neffld::bench {

class DeviceBench {
 public:
  explicit DeviceBench(const Subject& subject);
  ~DeviceBench();

  /// Loads once and relocates once more, into host memory.
  Result<void> prepare();
  /// After prepare().
  const LoadedModel& model() const;
  std::span<Section> sections();

  Result<void> round();
  /// What needs no repetition.
  Result<void> finish();
  void report(FileReport& report) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace neffld::bench
