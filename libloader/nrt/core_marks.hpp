// SPDX-License-Identifier: MIT
// Marks in the driver by which processes share out the cores of a machine (spec 06 section 4.3,
// spec 07 section 3.2).
#pragma once

#include <cstdint>
#include <memory>

#include "config.hpp"
#include "neffld/device_file.hpp"
#include "topology.hpp"

namespace neffld::nrt {

/// The cores of one device this process has marked; they are free again with it. On a device that
/// is not simulated nothing is marked here: the hardware gate marks what is used (decision 24).
class CoreMarks {
 public:
  explicit CoreMarks(std::shared_ptr<DeviceFile> file) : file_(std::move(file)) {}
  ~CoreMarks();
  CoreMarks(const CoreMarks&) = delete;
  CoreMarks& operator=(const CoreMarks&) = delete;

  /// Takes as many virtual cores of the device as `wanted` has: exactly those if `exact`, else the
  /// first free run, from `wanted.first` on. Returns the run it took. Errors: NRT_FAILURE when
  /// others hold them, with who holds the device; NRT_INVALID when the free run does not begin with
  /// a virtual core.
  Result<CoreRange> take(const CoreRange& wanted, bool exact, const Topology& topology);

 private:
  void release() noexcept;

  std::shared_ptr<DeviceFile> file_;
  CoreRange marked_;  ///< physical
};

}  // namespace neffld::nrt
