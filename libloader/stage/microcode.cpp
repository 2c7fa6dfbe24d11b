// SPDX-License-Identifier: MIT
// GPSIMD libraries of the model, on architectures that stage them per model (spec 04 section 2.2
// step 11). The table that tells the engine where they are is not known to the last field, so they
// are counted and reported, not staged.
#include <fmt/format.h>

#include "builders.hpp"

namespace neffld {

Result<void> plan_microcode(PlanContext& context) {
  constexpr std::size_t most_libraries = 9;
  const Kbin& kbin = context.kbin();
  const std::size_t count = kbin.ucode_libraries.size();
  if (count == 0 || !context.arch.caps.ucode_libraries) return {};
  if (count > most_libraries) {
    return fail(Status::failure, ErrorClass::format, {.member = kbin.name, .path = "ucode_lib"},
                fmt::format("Exceeded max number of GPSIMD libs: found {}, expected at most {}",
                            count, most_libraries));
  }
  context.out().warnings.push_back(fmt::format(
      "{}: {} GPSIMD libraries are not staged: the table that lists them for the engine "
      "is not known",
      kbin.name, count));
  return {};
}

}  // namespace neffld
