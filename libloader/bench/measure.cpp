// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

namespace neffld::bench {
namespace {

/// A line of /proc/self/status, in bytes.
std::optional<std::uint64_t> status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kibibytes = 0;
    if (word == name && status >> kibibytes) return kibibytes << 10;
  }
  return std::nullopt;
}

bool reset_peak() {
  std::ofstream reset("/proc/self/clear_refs");
  return static_cast<bool>(reset << "5" << std::flush);
}

}  // namespace

std::uint64_t minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

PeakMemory::PeakMemory() {
  malloc_trim(0);  // memory that is only kept for later would hide what is used next
  if (reset_peak()) before_ = status_bytes("VmRSS:");
}

std::optional<std::uint64_t> PeakMemory::bytes() const {
  const auto peak = status_bytes("VmHWM:");
  if (!before_ || !peak) return std::nullopt;
  return *peak > *before_ ? *peak - *before_ : 0;
}

}  // namespace neffld::bench
