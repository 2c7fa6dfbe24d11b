// SPDX-License-Identifier: MIT
// The last error lines of the process, kept in memory and written to a file when a call fails, if
// the user names a folder (spec 07 sections 5.2 and 9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace neffld::nrt {

class ErrorRing {
 public:
  static constexpr std::size_t bytes_per_core = 128 << 10;

  /// The one of this process; never destroyed.
  static ErrorRing& get();

  /// Room for so many virtual cores; the oldest lines go when it is less than before.
  void resize(std::uint32_t cores);
  void add(std::string_view line);
  /// Oldest first, each ended.
  std::string text() const;
  /// For whoever forks: held meanwhile, or the child could wait for a thread that it does not have.
  std::mutex& mutex() const { return mutex_; }

 private:
  void shrink();

  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
  std::size_t used_ = 0, room_ = bytes_per_core;
};

/// NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY with its tokens replaced: %p pid, %t thread, %d date, %i
/// instance, %l and %c (log id, cluster) by nothing; empty if it is not set.
std::string dump_folder();
/// Writes `text` and the ring to a new file in dump_folder(); does nothing without one. Returns its
/// path, empty if there is none.
std::string dump_errors(std::string_view text);

}  // namespace neffld::nrt
