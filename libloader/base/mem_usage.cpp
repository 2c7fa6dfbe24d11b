// SPDX-License-Identifier: MIT
// What device memory is for, by name and as the driver counts it (spec 03 section 9.1).
#include "neffld/plan.hpp"

namespace neffld {

std::string_view mem_usage_name(MemUsage usage) {
  switch (usage) {
    case MemUsage::code:
      return "model code";
    case MemUsage::constants:
      return "model constants";
    case MemUsage::shared_scratchpad:
      return "shared scratchpad";
    case MemUsage::scratchpad:
      return "scratchpad";
    case MemUsage::runtime:
      return "runtime";
    case MemUsage::rings_io:
      return "dma rings io";
    case MemUsage::rings_spill:
      return "dma rings spill";
    case MemUsage::rings_runtime:
      return "dma rings runtime";
  }
  return "unknown";
}

MemCategory mem_category(MemUsage usage) {
  switch (usage) {
    case MemUsage::code:
      return MemCategory::code;
    case MemUsage::constants:
      return MemCategory::constants;
    case MemUsage::shared_scratchpad:
      return MemCategory::scratchpad;
    case MemUsage::scratchpad:
      return MemCategory::scratchpad_not_shared;
    case MemUsage::runtime:
      return MemCategory::misc;
    case MemUsage::rings_io:
    case MemUsage::rings_spill:
    case MemUsage::rings_runtime:
      break;
  }
  return MemCategory::dma_rings;
}

}  // namespace neffld
