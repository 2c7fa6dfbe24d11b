// SPDX-License-Identifier: MIT
// What a simulated driver shows in sysfs.
#pragma once

#include <optional>
#include <string>

#include "neffld/device_file.hpp"

namespace neffld {

/// The text of an attribute by its path in the device's folder, such as
/// "neuron_core0/stats/memory_usage/device_mem/constants/present" (spec 06 section 8); nothing if
/// there is no such attribute.
std::optional<std::string> sim_fact(const SimDevice& device, const std::string& path);

}  // namespace neffld
