// SPDX-License-Identifier: MIT
// From a variable to the 64-bit pointer that stands for it in descriptors and tables.
#pragma once

#include <vector>

#include "neffld/relocate.hpp"

namespace neffld {

/// Template pointers of unbound inputs and outputs (spec 05 B3): bit 61, var_id 54:36, offset 35:0.
inline constexpr std::uint64_t template_bit = 1ull << 61;
inline constexpr unsigned template_var_shift = 36;
inline constexpr std::uint64_t template_max_var = (1ull << 19) - 1;
inline constexpr std::uint64_t template_max_offset = (1ull << 36) - 1;

/// One variable's pointer base: adding a byte offset gives the pointer, template or not.
struct PointerBase {
  enum class Kind : std::uint8_t { none, placed, io, bound_io };
  std::uint64_t value = 0;
  Kind kind = Kind::none;  ///< `none` has no address: lists, unbound pointers to nothing
};

/// Pointer bases of every variable of a kbin. Inputs and outputs missing from `addresses.io` get
/// their template base.
Result<std::vector<PointerBase>> pointer_bases(const Kbin& kbin, const KbinPlan& plan,
                                               const Addresses& addresses);

/// Address of a placed variable; nothing for the others.
std::uint64_t placed_address(const Placement& placement, const Addresses& addresses);
bool has_address(const Placement& placement);

}  // namespace neffld
