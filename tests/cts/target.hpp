// SPDX-License-Identifier: MIT
// The device under test, and what the rows may know about it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "neffld/back_ends.hpp"
#include "neffld/device_file.hpp"
#include "process.hpp"

namespace neffld::cts {

/// Facts the expectations depend on.
struct Facts {
  std::string kind;                ///< "sim:v2", "module:v3", "driver:v3": the key of the lists
  std::string name;                ///< what was opened
  std::uint32_t architecture = 3;  ///< 2 or 3
  std::uint32_t generation = 24;   ///< 24, 27 or 30
  bool clean = false;              ///< a simulated device that answers errnos for residues
  bool simulated = false;
  bool in_process = false;
  bool fresh = false;  ///< nobody has used the device before the row
  std::uint64_t hbm_bytes = 0;

  bool v2() const { return architecture == 2; }
  std::uint32_t cores() const { return v2() ? 2 : 8; }
  std::uint32_t hbms() const { return v2() ? 2 : 4; }
  std::uint32_t topsps() const { return v2() ? 6 : 16; }
  std::uint64_t hbm_base(std::uint32_t hbm) const;
  std::uint64_t small_pool(std::uint32_t hbm) const;  ///< first address of it
  std::uint64_t core_base(std::uint32_t core) const;  ///< device view
  std::uint64_t host_base() const;
};

/// A device that can be opened for each row.
class Target {
 public:
  virtual ~Target() = default;
  const Facts& facts() const { return facts_; }
  /// Makes ready for the next row; a simulated device starts anew.
  virtual Result<void> next_row() = 0;
  /// A new open file of the device.
  virtual Result<std::unique_ptr<DeviceFile>> open() = 0;
  /// Another process, without descriptors of the device.
  virtual Result<std::unique_ptr<Process>> start_process() = 0;

 protected:
  Facts facts_;
};

struct TargetOptions {
  std::string device = "sim";     ///< sim (v3), sim:v2, sim:v3 or the path of a node
  std::uint32_t sim_driver = 24;  ///< minor version of a simulated driver
  bool sim_clean_errors = false;  ///< see SimOptions
  bool fresh = false;             ///< nobody has used the node since its driver was loaded
  NodeOptions nodes;
};

/// Opens the device once and asks it who it is. Errors: class unsupported for an unknown name or
/// architecture, else those of SimDevice::create and open_node.
Result<std::unique_ptr<Target>> make_target(const TargetOptions& options);

}  // namespace neffld::cts
