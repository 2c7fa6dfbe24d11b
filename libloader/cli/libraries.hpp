// SPDX-License-Identifier: MIT
// Where the files are that this program gives to others: beside it in a build, else installed.
#pragma once

#include <string>

#include "neffld/error.hpp"

namespace neffld::cli {

/// The folder of a library. `in_build` is its folder in a build, from the one of this program.
/// Errors: it is not there (class file).
Result<std::string> library_folder(const std::string& in_build, const std::string& name);

}  // namespace neffld::cli
