// SPDX-License-Identifier: MIT
// The commands of `neffld`. Each adds itself to the parser and leaves its action in `run`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "neffld/error.hpp"

namespace neffld::cli {

/// What the chosen command does; set while parsing.
using Action = std::function<Result<void>()>;

/// Refuses a sign and nothing: the parser would wrap -1 to the largest number and take "" as 0.
inline CLI::Validator unsigned_number() {
  return CLI::Validator(
      [](std::string& text) {
        const bool number = !text.empty() && !text.starts_with('-');
        return number ? std::string() : "expected an unsigned number";
      },
      "", "unsigned number");
}

/// Refuses "", which means that an option is not given.
inline CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? "expected a name" : std::string(); }, "",
      "name");
}

void add_inspect(CLI::App& app, Action& run);
void add_plan(CLI::App& app, Action& run);
void add_load(CLI::App& app, Action& run);
void add_dump(CLI::App& app, Action& run);
void add_trace(CLI::App& app, Action& run);
void add_relocs(CLI::App& app, Action& run);
void add_explain(CLI::App& app, Action& run);
void add_check(CLI::App& app, Action& run);
void add_diff(CLI::App& app, Action& run);
void add_disasm(CLI::App& app, Action& run);
void add_ip(CLI::App& app, Action& run);
void add_pack(CLI::App& app, Action& run);
void add_unpack(CLI::App& app, Action& run);
void add_conformance(CLI::App& app, Action& run);
void add_run(CLI::App& app, Action& run);
void add_run_with(CLI::App& app, Action& run);
void add_shim(CLI::App& app, Action& run);

}  // namespace neffld::cli
