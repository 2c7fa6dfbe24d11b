// SPDX-License-Identifier: MIT
#include "neffld/stream_scans.hpp"

namespace neffld {

std::shared_ptr<const StreamScan> StreamScans::find(std::uint32_t kbin) const {
  const std::scoped_lock lock(mutex_);
  return kbin < scans_.size() ? scans_[kbin] : nullptr;
}

void StreamScans::keep(std::uint32_t kbin, StreamScan scan) {
  auto kept = std::make_shared<const StreamScan>(std::move(scan));
  const std::scoped_lock lock(mutex_);
  if (kbin >= scans_.size()) scans_.resize(std::size_t{kbin} + 1);
  scans_[kbin] = std::move(kept);
}

}  // namespace neffld
