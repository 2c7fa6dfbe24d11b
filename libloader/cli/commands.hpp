// SPDX-License-Identifier: MIT
// The commands of `neffld`. Each adds itself to the parser and leaves its action in `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "neffld/error.hpp"

namespace neffld::cli {

/// What the chosen command does; set while parsing.
using Action = std::function<Result<void>()>;

void add_inspect(CLI::App& app, Action& run);
void add_load(CLI::App& app, Action& run);
void add_dump(CLI::App& app, Action& run);
void add_trace(CLI::App& app, Action& run);
void add_relocs(CLI::App& app, Action& run);
void add_pack(CLI::App& app, Action& run);
void add_unpack(CLI::App& app, Action& run);

}  // namespace neffld::cli
