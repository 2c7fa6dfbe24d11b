// SPDX-License-Identifier: MIT
// The process environment: values with their parse errors, names nobody knows (spec 07 section 4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neffld/error.hpp"

namespace neffld::nrt {

/// All variables whose name starts with NEURON, in the order of the process.
std::vector<std::pair<std::string, std::string>> environment();

/// A variable's value; an empty value counts as unset [ours].
std::optional<std::string> get_env(const char* name);

/// A decimal, 0x or 0 number of at most `limit`. Error: NRT_INVALID, "Invalid value '..' for ..".
Result<std::optional<std::uint64_t>> get_env_number(const char* name,
                                                    std::uint64_t limit = UINT32_MAX);
/// 0, 1, true or false in any case.
Result<std::optional<bool>> get_env_bool(const char* name);

/// The error of a variable whose value has no meaning.
tl::unexpected<Error> bad_env(const char* name, std::string_view value, std::string_view allowed);

/// Variables of the process that start with NEURON_RT_ and mean nothing to any release: misspelt
/// or obsolete.
std::vector<std::string> unknown_env_names();
/// Variables of the process that have a meaning elsewhere and no effect here.
std::vector<std::string> ignored_env_names();

}  // namespace neffld::nrt
