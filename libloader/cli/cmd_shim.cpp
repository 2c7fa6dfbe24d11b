// SPDX-License-Identifier: MIT
// neffld shim: runs a program that opens /dev/neuronN against the simulated device.
#include <cstdlib>

#include "commands.hpp"
#include "loading.hpp"
#include "shim_run.hpp"

namespace neffld::cli {
namespace {

struct Shim {
  ShimOptions options;
  bool print = false;

  Result<void> run() const {
    if (print) {
      NEFFLD_ASSIGN(const std::string text, shim_environment(options));
      return print_text(text);
    }
    if (options.program.empty()) {
      return fail(Status::invalid, ErrorClass::usage, {},
                  "no program was given: neffld shim -- PROGRAM [ARGUMENT...]");
    }
    NEFFLD_ASSIGN(const int status, run_under_shim(options));
    if (status != 0) std::exit(status);  // the program's own
    return {};
  }
};

}  // namespace

void add_shim(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "shim",
      "Run a program that opens /dev/neuronN with simulated devices: neffld shim -- PROGRAM");
  auto state = std::make_shared<Shim>();
  ShimOptions& options = state->options;
  command->add_option("program", options.program, "The program and its arguments, after --");
  command->add_option("--device", options.device, "sim:v2 or sim:v3")
      ->check(CLI::IsMember({"sim", "sim:v2", "sim:v3"}));
  command->add_option("--count", options.count, "Devices the program sees")
      ->check(CLI::Range(1, 64));
  command->add_option("--sim-driver", options.driver, "Driver generation of the devices")
      ->check(CLI::IsMember({"2.24", "2.27", "2.30"}));
  command->add_flag("--sim-clean-errors", options.clean_errors,
                    "Errnos where the driver answers with positive numbers");
  command->add_option("--trace", options.trace, "Record every call into this file (neffld trace)");
  command->add_flag("--record-data", options.trace_data,
                    "Also keep what buffer copies carry, not only its hash");
  command->add_flag("--print", state->print,
                    "Print the environment lines for a shell instead of running anything");
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
