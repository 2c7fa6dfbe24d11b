// SPDX-License-Identifier: MIT
// What `neffld bench` prints, in its two forms.
#pragma once

#include <span>
#include <string>

#include "neffld/bench.hpp"

namespace neffld::cli {

std::string bench_text(const bench::FileReport& report);
std::string bench_json(std::span<const bench::FileReport> reports);

}  // namespace neffld::cli
