// SPDX-License-Identifier: MIT
// Progress of long work: lines of JSON on request, one moving line on a terminal.
#pragma once

#include "neffld/session.hpp"

namespace neffld::cli {

/// "json": one line per phase change and per step of bytes on stderr. Otherwise a line on stderr
/// that rewrites itself, only when stderr is a terminal and the work takes longer than half a
/// second.
ProgressSink make_progress(bool json);

}  // namespace neffld::cli
