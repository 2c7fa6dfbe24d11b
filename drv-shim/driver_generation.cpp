// SPDX-License-Identifier: MIT
#include "driver_generation.hpp"

#include <fmt/format.h>

namespace neffld::shim {
namespace {

constexpr DriverGeneration generations[] = {{24, NDS_GENERATION_2_24, "2.24.7.0"},
                                            {27, NDS_GENERATION_2_27, "2.27.4.0"},
                                            {30, NDS_GENERATION_2_30, "2.30.2.0"}};

}  // namespace

Result<DriverGeneration> find_generation(std::uint32_t minor) {
  for (const DriverGeneration& generation : generations) {
    if (generation.minor == minor) return generation;
  }
  return unsupported({}, fmt::format("no simulated driver has version 2.{}; versions are 2.24, "
                                     "2.27 and 2.30",
                                     minor));
}

}  // namespace neffld::shim
