// SPDX-License-Identifier: MIT
// The report of `neffld plan` in its two forms.
#pragma once

#include <string>
#include <vector>

#include "neffld/memory.hpp"
#include "neffld/session.hpp"

namespace neffld::cli {

/// One file of the report.
struct PlannedFile {
  std::string file;
  ParsedModel parsed;
  Plan plan;                      ///< the rings of binding at its end
  std::size_t load_requests = 0;  ///< requests of loading; the rest is binding's
  std::vector<Region> regions;    ///< by request, predicted; ends before the one that misses
  std::optional<MemoryMiss> miss;
  std::vector<std::string> ways;  ///< settings with which it would fit
};

struct PlanReport {
  Arch arch = Arch::any;
  std::vector<PlannedFile> files;    ///< loaded one after the other
  std::vector<MemoryMap::Hbm> hbms;  ///< once they all are
};

std::string plan_json(const PlanReport& report);
std::string plan_text(const PlanReport& report);

}  // namespace neffld::cli
