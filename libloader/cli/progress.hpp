// SPDX-License-Identifier: MIT
// Progress of long work: lines of JSON on request, one moving line on a terminal.
#pragma once

#include <functional>

#include "neffld/repro.hpp"
#include "neffld/session.hpp"

namespace neffld::cli {

/// "json": one line per phase change and per step of bytes on stderr. Otherwise a line on stderr
/// that rewrites itself, only when stderr is a terminal and the work takes longer than half a
/// second.
ProgressSink make_progress(bool json);

/// The same line for a reduction.
std::function<void(const ReproProgress&)> make_repro_progress();

}  // namespace neffld::cli
