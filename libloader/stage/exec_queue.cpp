// SPDX-License-Identifier: MIT
// How many descriptors retarget the device to the tensors of an execution (spec 04 sections 2.2
// step 12 and 8.4, section 13 rule 23).
#include "builders.hpp"

namespace neffld {

Result<void> plan_exec_queue(PlanContext& context) {
  constexpr std::uint64_t queue_registers = 6;  // base low, base high, length; TX and RX
  const Kbin& kbin = context.kbin();
  KbinPlan& out = context.out();
  const auto is_io = [&](std::uint32_t var_id) {
    const VarKind kind = kbin.variables[var_id].kind;
    return kind == VarKind::input || kind == VarKind::output;
  };
  std::uint64_t count = 1;  // the event that ends the switch
  for (const Variable& variable : kbin.variables) {
    if (variable.kind == VarKind::pointer && variable.io_ref) ++count;
    if (variable.kind != VarKind::dge_table) continue;
    for (const std::uint32_t entry : variable.list) count += is_io(entry) ? 1 : 0;
  }
  for (const RingPlan& ring : out.rings) {
    const bool rebuilt = out.queue_sets[ring.queue_set].is_template && ring.allocated != 0;
    if (rebuilt) count += queue_registers;
  }
  out.exec_queue_descriptors = count;
  return {};
}

}  // namespace neffld
