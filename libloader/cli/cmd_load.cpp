// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "loading.hpp"

namespace neffld::cli {
namespace {

struct LoadCommand {
  LoadingOptions loading;
  std::string report = "text";
  bool verify = false;

  Result<void> run() {
    if (verify && loading.until != "relocate") {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--verify"},
                  "needs a complete load, expected no --until");
    }
    if (verify && loading.device.dry_run) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--verify"},
                  "reads the device back, and a dry run writes nothing to it");
    }
    NEFFLD_ASSIGN(Loading result, load_files(loading));
    std::uint64_t verified = 0;
    if (verify) {
      for (const auto& model : result.session->models()) {
        NEFFLD_ASSIGN(const std::uint64_t bytes, result.session->verify(*model));
        verified += bytes;
      }
    }
    NEFFLD_TRY(
        print_text(report == "json" ? report_json(result.report) : report_text(result.report)));
    if (verify && report == "text") {
      NEFFLD_TRY(print_text(
          fmt::format("\nverified: {} bytes read back equal a fresh relocation\n", verified)));
    }
    return result.close();
  }
};

}  // namespace

void add_load(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "load", "Load NEFFs on a device and report what went where; several files stay resident");
  auto state = std::make_shared<LoadCommand>();
  command->add_option("FILE", state->loading.files, "NEFF files")->required();
  state->loading.add_device_options(*command);
  state->loading.add_record_options(*command);
  state->loading.add_parse_options(*command);
  command
      ->add_option("--until", state->loading.until,
                   "Stop after guard, parse, graph, build, plan (no device), stage or relocate")
      ->capture_default_str();
  command->add_option("--report", state->report, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--verify", state->verify,
                    "Read every section back and compare it with a fresh relocation");
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
