// SPDX-License-Identifier: MIT
// What a system trace may capture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace neffld::nrt {

/// Event types, the one clients are known to read [ours].
inline const std::vector<std::string_view>& event_types() {
  static const std::vector<std::string_view> types = {"nc_exec_running"};
  return types;
}

/// What to capture: everything unless switched off.
struct CaptureFilter {
  std::uint64_t max_events_per_core = 0x100000;
  std::map<std::uint32_t, bool> cores;  ///< those that were set
  std::set<std::string_view> off;       ///< event types switched off

  /// False for a type that does not exist.
  bool set_type(std::string_view type, bool enabled) {
    const auto& all = event_types();
    const auto known = std::find(all.begin(), all.end(), type);
    if (known == all.end()) return false;
    if (enabled) {
      off.erase(*known);
    } else {
      off.insert(*known);
    }
    return true;
  }
  std::vector<std::string_view> enabled_types() const {
    std::vector<std::string_view> types;
    for (const std::string_view type : event_types()) {
      if (!off.contains(type)) types.push_back(type);
    }
    return types;
  }
};

}  // namespace neffld::nrt
