// SPDX-License-Identifier: MIT
// What planning finds in instruction streams depends on the file alone, so loads that share a parse
// share it, too.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "neffld/plan.hpp"

namespace neffld {

/// The parts of a KbinPlan that scanning its streams fills.
struct StreamScan {
  std::array<StreamPlan, engine_count> streams;
  std::uint32_t collectives = 0;
  DmaTotals totals;  ///< of the records that move data themselves
  std::vector<std::string> warnings;
};

/// The scans of the kbins of one parse, kept by the first plan that makes them. Any number of
/// threads may use it.
class StreamScans {
 public:
  /// Null before keep().
  std::shared_ptr<const StreamScan> find(std::uint32_t kbin) const;
  void keep(std::uint32_t kbin, StreamScan scan);

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const StreamScan>> scans_;  ///< by kbin
};

/// plan_model() that takes the scans of these kbins from `scans`, and keeps there what it had to
/// scan.
Result<Plan> plan_model(std::span<const Kbin> kbins, const PlanOptions& options,
                        StreamScans& scans);

}  // namespace neffld
