// SPDX-License-Identifier: MIT
#pragma once

#include "neffld/trace.hpp"

namespace neffld::shim {

enum class Compared { everything, replies };

/// Appends the differences of two calls to the report. `contents` false: received data of models is
/// not compared.
void compare_calls(const TraceCall& first, const TraceCall& second, Compared what, bool contents,
                   CompareReport& report);
void compare_mappings(const TraceMapping& first, const TraceMapping& second, std::uint64_t call,
                      CompareReport& report);

}  // namespace neffld::shim
