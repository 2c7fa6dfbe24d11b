// SPDX-License-Identifier: MIT
// The commands of `neffld`. Each adds itself to the parser and leaves its action in `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "neffld/error.hpp"

namespace neffld::cli {

/// What the chosen command does; set while parsing.
using Action = std::function<Result<void>()>;

/// Refuses a sign: the parser would wrap -1 to the largest number.
inline CLI::Validator unsigned_number() {
  return CLI::Validator(
      [](std::string& text) {
        return text.starts_with('-') ? "expected an unsigned number" : std::string();
      },
      "", "unsigned number");
}

void add_inspect(CLI::App& app, Action& run);
void add_load(CLI::App& app, Action& run);
void add_dump(CLI::App& app, Action& run);
void add_trace(CLI::App& app, Action& run);
void add_relocs(CLI::App& app, Action& run);
void add_explain(CLI::App& app, Action& run);
void add_check(CLI::App& app, Action& run);
void add_diff(CLI::App& app, Action& run);
void add_disasm(CLI::App& app, Action& run);
void add_pack(CLI::App& app, Action& run);
void add_unpack(CLI::App& app, Action& run);
void add_conformance(CLI::App& app, Action& run);
void add_run_with(CLI::App& app, Action& run);

}  // namespace neffld::cli
