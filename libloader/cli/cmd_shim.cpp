// SPDX-License-Identifier: MIT
// neffld shim: runs a program that opens /dev/neuronN against the simulated device.
#include <fmt/format.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "loading.hpp"
#include "shim_run.hpp"

namespace neffld::cli {
namespace {

struct Shim {
  ShimOptions options;
  bool print = false;

  Result<void> run() const {
    if (!print) return run_under_shim(options, "neffld shim");
    NEFFLD_ASSIGN(const std::string text, shim_environment(options));
    return print_text(text);
  }
};

/// An option that was not given is what its variable says, as for a program started without us. Not
/// by CLI's envname(), which takes any word for true.
void take_variable(CLI::Option& option, const char* variable) {
  const char* text = std::getenv(variable);
  if (option.count() != 0 || text == nullptr || *text == 0) return;
  const std::string value = text;
  if (option.get_items_expected_max() == 0 && value != "0" && value != "1") {
    throw CLI::ValidationError(variable, fmt::format("found '{}', expected 0 or 1", value));
  }
  try {
    option.add_result(value);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    throw CLI::ValidationError(variable, fmt::format("found '{}': {}", value, error.what()));
  }
}

}  // namespace

void add_shim(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "shim",
      "Run a program that opens /dev/neuronN with simulated devices: neffld shim -- PROGRAM");
  auto state = std::make_shared<Shim>();
  ShimOptions& options = state->options;
  command->add_option("program", options.program, "The program and its arguments, after --");
  const std::vector<std::pair<CLI::Option*, const char*>> variables = {
      {command->add_option("--device", options.device, "sim:v2 or sim:v3 (NEFFLD_SHIM_DEVICE)")
           ->check(CLI::IsMember({"sim", "sim:v2", "sim:v3"})),
       "NEFFLD_SHIM_DEVICE"},
      {command->add_option("--count", options.count, "Devices the program sees (NEFFLD_SHIM_COUNT)")
           ->check(CLI::Range(1, 64)),
       "NEFFLD_SHIM_COUNT"},
      {command
           ->add_option("--sim-driver", options.driver,
                        "Driver generation of the devices (NEFFLD_SHIM_DRIVER)")
           ->check(CLI::IsMember({"2.24", "2.27", "2.30"})),
       "NEFFLD_SHIM_DRIVER"},
      {command->add_flag(
           "--sim-clean-errors", options.clean_errors,
           "Errnos where the driver answers with positive numbers (NEFFLD_SHIM_CLEAN_ERRORS)"),
       "NEFFLD_SHIM_CLEAN_ERRORS"},
      {command
           ->add_option("--trace", options.trace,
                        "Record every call into this file (neffld trace; NEFFLD_SHIM_TRACE)")
           ->check(not_empty()),
       "NEFFLD_SHIM_TRACE"},
      {command->add_flag(
           "--record-data", options.trace_data,
           "Also keep what buffer copies carry, not only its hash (NEFFLD_SHIM_TRACE_DATA)"),
       "NEFFLD_SHIM_TRACE_DATA"},
  };
  command->add_flag("--print", state->print,
                    "Print the environment lines for a shell instead of running anything");
  command->callback([state, variables, &run] {
    for (const auto& [option, variable] : variables) take_variable(*option, variable);
    run = [state] { return state->run(); };
  });
}

}  // namespace neffld::cli
