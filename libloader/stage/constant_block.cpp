// SPDX-License-Identifier: MIT
// The constant block: the words DMA signals are copied from (04 rule 18, decisions 19 and 34).
#include <array>

#include "builders.hpp"

namespace neffld {

Result<void> plan_constant_block(PlanContext& context) {
  context.out().constant_block =
      context.add(SectionKind::constant_block, 0, 64, 64, MemUsage::runtime, "constant block");
  return {};
}

Result<void> emit_constant_block(const EmitContext& context) {
  std::array<std::uint8_t, 64> block{};
  store_le<std::uint32_t>(block, 4, 1);
  return context.sink({context.planned().constant_block, block, false});
}

}  // namespace neffld
