// SPDX-License-Identifier: MIT
// Notes of a device image (docs/report.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neffld/layout.hpp"

namespace neffld {

// An array: of a literal every translation unit may have its own, and a range would mix two.
inline constexpr char note_owner_text[] = "neffld";
inline constexpr std::string_view note_owner = note_owner_text;
inline constexpr std::uint32_t note_type_model = 1;   ///< JSON: name and uuid
inline constexpr std::uint32_t note_type_layout = 2;  ///< JSON: layout_to_json()

/// Content of a note of type 1.
std::string model_json(const Layout& layout);

}  // namespace neffld
