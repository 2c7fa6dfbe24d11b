// SPDX-License-Identifier: MIT
// Running a program with libneuron_shim.so in front of the C library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neffld/error.hpp"

namespace neffld::cli {

struct ShimOptions {
  std::vector<std::string> program;
  std::string device = "sim:v3";  ///< sim:v2, sim:v3, sim, or node: the real ones, recorded
  std::uint32_t count = 1;
  std::string driver = "2.24";
  bool clean_errors = false;
  std::string trace;  ///< a file, empty = none
  bool trace_data = false;
};

/// The environment lines that do the same in a shell.
Result<std::string> shim_environment(const ShimOptions& options);

/// Runs the program with devices of its own and waits for it and for everybody who uses them. Ends
/// this process with the program's exit status, or with 128 and the signal that ended it, if that
/// is not 0. `command` is what the user typed before "--". Errors: no program (class usage), it
/// cannot be run (class file), it cannot be intercepted (class unsupported), the devices or the
/// trace cannot be made (class resource), their server failed (class file).
Result<void> run_under_shim(const ShimOptions& options, const char* command);

}  // namespace neffld::cli
