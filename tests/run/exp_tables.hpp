// SPDX-License-Identifier: MIT
// Tables for exp of the form spec 10 section 6 found in real files: a cubic in each of some
// thousand intervals, relative error about 1e-5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace neffld::test {

constexpr std::uint8_t exp_function = 7;

struct ExpTables {
  std::vector<std::uint8_t> buckets, controls;  ///< 32-byte entries
  std::string profile;                          ///< the JSON member
};

/// For members of a function set of that name.
ExpTables make_exp_tables(const std::string& set);

}  // namespace neffld::test
