// SPDX-License-Identifier: MIT
// The delta debugger: which units of a list can go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "neffld/bytes.hpp"

namespace neffld {

/// Which units of a list are there.
using Kept = std::vector<bool>;

/// As fine as single units.
inline constexpr std::size_t any_parts = SIZE_MAX;

/// Tries to take units away, all at once first, then halves, quarters and so on down to `count /
/// most_parts` units at a time, from the end of the list to its start. `passes` judges a list; the
/// full one passes. Returns which units are left: a list that passes.
Kept remove_units(std::size_t count, std::size_t most_parts,
                  const std::function<bool(const Kept&)>& passes);

/// Where the units of `size` bytes begin that have `unit` bytes each; the last may be shorter.
std::vector<std::size_t> even_units(std::size_t size, std::size_t unit);

/// The units of `bytes` that are kept; `starts` is where each begins.
std::vector<std::uint8_t> kept_bytes(const std::vector<std::uint8_t>& bytes,
                                     const std::vector<std::size_t>& starts, const Kept& kept);
/// All bytes, with zeros where units are not kept.
std::vector<std::uint8_t> zeroed_bytes(const std::vector<std::uint8_t>& bytes,
                                       const std::vector<std::size_t>& starts, const Kept& kept);

}  // namespace neffld
