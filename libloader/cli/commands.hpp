// SPDX-License-Identifier: MIT
// The commands of `neffld`. Each adds itself to the parser and leaves its action in `run`.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>

#include "neffld/error.hpp"

namespace neffld::cli {

/// What the chosen command does; set while parsing.
using Action = std::function<Result<void>()>;

/// Refuses a sign, nothing and what is above `most`: the parser would wrap -1 to the largest
/// number, take "" as 0, and cut 2^64 down to the largest number.
inline CLI::Validator unsigned_number(std::uint64_t most = UINT64_MAX) {
  return CLI::Validator(
      [most](std::string& text) -> std::string {
        if (text.empty() || text.starts_with('-')) return "expected an unsigned number";
        errno = 0;
        const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 0);
        if (errno != ERANGE && number <= most) return {};
        return fmt::format("found {}, expected at most {}", text, most);
      },
      "", "unsigned number");
}

/// Refuses "", which means that an option is not given.
inline CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? "expected a name" : std::string(); }, "",
      "name");
}

void add_bench(CLI::App& app, Action& run);
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
void add_repro(CLI::App& app, Action& run);
void add_conformance(CLI::App& app, Action& run);
void add_run(CLI::App& app, Action& run);
void add_run_with(CLI::App& app, Action& run);
void add_shim(CLI::App& app, Action& run);

}  // namespace neffld::cli
