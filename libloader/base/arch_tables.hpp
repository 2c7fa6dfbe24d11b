// SPDX-License-Identifier: MIT
// The tables themselves; everything outside this folder goes through arch_table().
#pragma once

#include "neffld/arch.hpp"

namespace neffld {

extern const ArchTable arch_table_v2, arch_table_v3, arch_table_v4;

}  // namespace neffld
