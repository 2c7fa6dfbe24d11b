// SPDX-License-Identifier: MIT
// Whether a candidate still shows the error, within the time and tries that are allowed.
#pragma once

#include <chrono>

#include "error_kind.hpp"

namespace neffld {

/// Thrown to end a reduction: what is found while memory is short is no answer.
struct HostShortage {
  Error error;
};
/// Throws HostShortage if `error` is one.
void end_if_shortage(const Error& error);

class Judge {
 public:
  Judge(const LoadProbe& probe, ErrorTest same, const ReproOptions& options);

  /// Loads a candidate. False without a try when time or tries are used up.
  bool shows(Bytes file);

  /// False when time or tries are used up: then a candidate need not even be made.
  bool may_try();
  /// Whether a try was refused.
  bool stopped() const { return stopped_; }
  const ReproProgress& work() const { return work_; }

 private:
  double seconds() const;

  const LoadProbe& probe_;
  ErrorTest same_;
  const ReproOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ReproProgress work_;
  bool stopped_ = false;
};

}  // namespace neffld
