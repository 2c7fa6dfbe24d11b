// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "neffld/device_file.hpp"

namespace neffld::shim {

/// For drivers without the 64-bit forms: sends a call in the form the loader uses and, when the
/// driver answers -EINVAL, in its older siblings, as libnrt does (spec 06 section 1). Only put
/// before drivers whose feature word lacks something: elsewhere -EINVAL is the answer.
std::unique_ptr<DeviceFile> use_older_forms(std::unique_ptr<DeviceFile> device);

}  // namespace neffld::shim
