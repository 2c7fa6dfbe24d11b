// SPDX-License-Identifier: MIT
// What an execution has to bind: inputs and outputs by name, with the least size of each (spec 04
// section 2.2 step 15).
#include "builders.hpp"

namespace neffld {

Result<void> plan_feature_maps(PlanContext& context) {
  for (const Variable& variable : context.kbin().variables) {
    const FeatureMap map{variable.name, variable.size, variable.var_id};
    if (variable.kind == VarKind::input) context.out().inputs.push_back(map);
    if (variable.kind == VarKind::output) context.out().outputs.push_back(map);
  }
  return {};
}

}  // namespace neffld
