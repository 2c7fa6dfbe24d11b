// SPDX-License-Identifier: MIT
// Is this path a Neuron node, may it be used, who uses it?
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "neffld/back_ends.hpp"

namespace neffld::shim {

/// What a node's driver says before anybody attaches to it.
struct NodeFacts {
  dev_t number = 0;
  std::uint32_t architecture = 0;
  std::uint32_t min_version = 0, max_version = 0;
  bool has_driver_info = false;  ///< DRIVER_INFO_GET works; older drivers lack it
  std::uint64_t features = 0;
  bool simulated = false;  ///< our own module answers
};

/// A process that has the node open.
struct Holder {
  int pid = 0;
  std::string command;
};

/// The path exists and is a character device of a class such nodes have. Opens nothing: opening
/// some devices has effects.
Result<void> check_path(const std::string& path, const NodeOptions& options);
/// neuron_sim says "neuron_sim VERSION" in its nodes' sysfs attribute `simulated`; no other driver
/// has it. Looked up by device number, so that any path and prefix leads there.
bool is_simulated(dev_t number, const NodeOptions& options);
/// Turns the errno of open(2) into a sentence. `number` is the node's device number.
tl::unexpected<Error> open_error(const std::string& path, int error, dev_t number);
/// Asks the driver behind an open descriptor.
Result<NodeFacts> ask_driver(int fd, const std::string& path, const NodeOptions& options);
/// Our versions against the driver's.
Result<void> check_versions(const NodeFacts& facts, const std::string& path);
/// Processes that have the node open, as far as /proc shows them to us.
std::vector<Holder> holders_of(dev_t number);

}  // namespace neffld::shim
