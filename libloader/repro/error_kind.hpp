// SPDX-License-Identifier: MIT
// Which errors count as the one to reproduce.
#pragma once

#include <functional>
#include <string>

#include "neffld/repro.hpp"

namespace neffld {

using ErrorTest = std::function<bool(const Error&)>;

/// The test for ReproOptions::wanted over a file that shows `shown`.
ErrorTest wanted_error(const Error& shown, const std::string& wanted);

}  // namespace neffld
