// SPDX-License-Identifier: MIT
// Whether LD_PRELOAD can do anything for a program.
#pragma once

#include <string>

#include "neffld/error.hpp"

namespace neffld::cli {

/// The file a shell would run for a name. Errors: there is none (class file).
Result<std::string> find_program(const std::string& name);

/// Errors (class unsupported): the program is statically linked, of another word size or machine,
/// or runs with more rights than its caller, and what that means. A script is judged by its
/// interpreter. `warning` is set for programs that go past the C library in part.
Result<void> check_preload(const std::string& path, std::string& warning);

}  // namespace neffld::cli
