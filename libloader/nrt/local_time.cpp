// SPDX-License-Identifier: MIT
#include "local_time.hpp"

#include <atomic>

namespace neffld::nrt {
namespace {

std::atomic<bool> child = false;
std::atomic<long> utc_offset = 0;  ///< seconds

}  // namespace

std::chrono::local_seconds local_time(std::time_t time) {
  if (!child) {
    tm local{};
    localtime_r(&time, &local);
    utc_offset = local.tm_gmtoff;
  }
  return std::chrono::local_seconds(std::chrono::seconds(time + utc_offset));
}

void take_local_time_before_fork() {
  local_time(std::time(nullptr));
}

void keep_local_time_in_child() {
  child = true;
}

}  // namespace neffld::nrt
