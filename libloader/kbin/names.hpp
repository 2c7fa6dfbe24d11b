// SPDX-License-Identifier: MIT
// Names of JSON mapped to the enums of kbin.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "neffld/kbin.hpp"

namespace neffld {

std::optional<VarKind> var_kind_of(std::string_view name);
std::optional<BackingBuf> backing_buf_of(std::string_view name);
std::optional<Engine> engine_of(std::string_view name);
std::optional<DmaOp> dma_op_of(std::string_view name);

/// Instruction dtype code of a descriptor dtype name (spec 02 section 10.5).
std::optional<std::uint8_t> dtype_code_of(std::string_view name);

}  // namespace neffld
