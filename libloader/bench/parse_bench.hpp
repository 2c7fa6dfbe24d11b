// SPDX-License-Identifier: MIT
// From the file to the plan: everything that needs no device.
#pragma once

#include <memory>

#include "subject.hpp"

namespace neffld::bench {

class ParseBench {
 public:
  explicit ParseBench(const Subject& subject);
  ~ParseBench();
  Result<void> round();
  void report(FileReport& report) const;
  /// Best time of inflating the payload, 0 for one that is not compressed.
  double inflate_seconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace neffld::bench
