// SPDX-License-Identifier: MIT
// What `repro` says about the file it made.
#pragma once

#include <string>

#include "neffld/repro.hpp"

namespace neffld::cli {

std::string repro_text(const Repro& repro, const std::string& output);
std::string repro_json(const Repro& repro, const std::string& output);

}  // namespace neffld::cli
