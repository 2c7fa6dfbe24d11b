// SPDX-License-Identifier: MIT
// Replays a recorded conversation with the real driver against a fresh device of the model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client.hpp"

namespace devsim_test {

/// What a replay found, by kind of line.
struct ReplayResult {
  unsigned lines = 0;                       ///< lines that were compared
  std::vector<std::string> differences;     ///< one sentence each
  std::map<std::string, unsigned> skipped;  ///< reason -> lines
};

/// Plays `files` one after the other on the same devices, as recorded on the same driver.
ReplayResult replay(const nds_config& config, const std::vector<std::string>& files,
                    std::uint32_t devices = 1);

}  // namespace devsim_test
