// SPDX-License-Identifier: MIT
// A device that keeps count of what is asked of it and how long that takes.
#pragma once

#include <array>
#include <atomic>
#include <map>

#include "neffld/bytes.hpp"
#include "neffld/forwarding_file.hpp"

namespace neffld::bench {

class TimedDevice : public ForwardingFile {
 public:
  enum class Kind : std::uint8_t { allocate, copy, queues, other };

  /// Without `keep`, copies to the device are answered and not made: its memory stays untouched.
  TimedDevice(std::shared_ptr<DeviceFile> inner, bool keep)
      : ForwardingFile(std::move(inner)), keep_(keep) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override;

  /// Bytes copied straight out of `bytes` count as direct. Not while calls are made.
  void watch(Bytes bytes);
  void reset();

  double seconds(Kind kind) const;
  std::uint64_t calls() const { return calls_; }
  std::uint64_t copied() const { return copied_; }  ///< bytes to the device
  std::uint64_t direct() const { return direct_; }  ///< of those, from watched memory

 private:
  void count_copy(std::uint32_t command, const void* argument) noexcept;

  const bool keep_;
  std::map<const std::uint8_t*, const std::uint8_t*> watched_;  ///< end by begin
  std::array<std::atomic<std::uint64_t>, 4> nanoseconds_{};
  std::atomic<std::uint64_t> calls_ = 0, copied_ = 0, direct_ = 0;
};

}  // namespace neffld::bench
