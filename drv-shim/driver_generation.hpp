// SPDX-License-Identifier: MIT
// The driver generations a simulated device can play.
#pragma once

#include <cstdint>

#include "nds.h"
#include "neffld/error.hpp"

namespace neffld::shim {

struct DriverGeneration {
  std::uint32_t minor;  ///< of driver 2.minor
  nds_generation generation;
  const char* version;  ///< as /sys/module/neuron/version tells it
};

/// The generation of driver 2.minor. Errors: there is none (class unsupported).
Result<DriverGeneration> find_generation(std::uint32_t minor);

}  // namespace neffld::shim
