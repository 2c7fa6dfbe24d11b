// SPDX-License-Identifier: MIT
// The fan-out of a load over the physical cores of a logical one: one thread a subgraph, all or
// nothing (seed page "the staging seam").
#pragma once

#include <cstdint>
#include <functional>

#include "neffld/error.hpp"

namespace neffld {

/// Subgraphs of one load the routine takes (decision 41).
inline constexpr std::uint32_t most_subgraphs = 256;

/// Builds the part of one subgraph; may be called in a thread of its own, beside those of others.
using BuildOne = std::function<Result<void>(std::uint32_t subgraph)>;
/// Takes back what a successful build of one subgraph did. Called in the caller's thread.
using UndoOne = std::function<void(std::uint32_t subgraph)>;

/// Runs `build` for the subgraphs 0 to `count` - 1, each in a thread of its own if there are
/// several, and waits for all of them. If one fails, or a thread cannot be started, every build
/// that succeeded is undone, last one first. Returns the error of the lowest subgraph that failed,
/// or NRT_RESOURCE when the threads ran out. What `build` throws is an error of it.
Result<void> fan_out(std::uint32_t count, const BuildOne& build, const UndoOne& undo,
                     bool one_thread = false);

}  // namespace neffld
