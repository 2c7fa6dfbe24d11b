// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "loading.hpp"
#include "neffld/repro.hpp"
#include "neffld/sim_control.hpp"
#include "progress.hpp"
#include "repro_report.hpp"

namespace neffld::cli {
namespace {

/// What a load of a candidate ends with; nothing if it loads.
std::optional<Error> error_of(Bytes candidate, const LoadingOptions& loading) {
  const std::uint64_t before = sim_memory_failures();
  auto loaded = guarded([&] { return try_load(candidate, loading); });
  if (loaded) return std::nullopt;
  if (sim_memory_failures() == before || is_host_shortage(loaded.error())) return loaded.error();
  return host_shortage().value();
}

struct ReproCommand {
  LoadingOptions loading;
  ReproOptions options;
  std::string file, output, report = "text";

  Result<void> run() {
    NEFFLD_TRY(parse_stage(loading.until));
    if (output.empty()) {
      output = std::filesystem::path(file).filename().replace_extension(".repro.neff").string();
    }
    NEFFLD_TRY(check_output(output, {file}));
    NEFFLD_TRY(check_writable(output));  // before the work, not after it
    options.container = parse_options(loading, Stage::parse).container;
    NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes,
                  read_file(file, options.container.limits.file_bytes()));
    options.progress = make_repro_progress();
    loading.one_thread = true;  // of several errors the same is found first each time
    auto repro = make_repro(
        bytes, [this](Bytes candidate) { return error_of(candidate, loading); }, options);
    options.progress = nullptr;  // takes its line off the terminal
    if (!repro) return tl::unexpected<Error>(in_file(std::move(repro.error()), file));
    NEFFLD_TRY(write_file(output, repro->file));
    return print_text(report == "json" ? repro_json(*repro, output) : repro_text(*repro, output));
  }
};

/// A range lets it through.
std::string not_nan(const std::string& text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? "found nan, expected seconds" : "";
}

void add_reduction_options(CLI::App& command, ReproCommand& state) {
  command
      .add_option("--error", state.options.wanted,
                  "Which error must stay: text of its sentence, or a status (NRT_RESOURCE); "
                  "without a value, and by default, the one the file shows now")
      ->expected(0, 1);
  command
      .add_option("--until", state.loading.until,
                  "Load only up to guard, parse, graph, build, plan, stage or relocate")
      ->capture_default_str();
  command
      .add_option("--seconds", state.options.seconds,
                  "Begin no candidate after this time; what was reached is written")
      ->check(CLI::Range(0.0, 1e9) & CLI::Validator(not_nan, ""))
      ->capture_default_str();
  command.add_option("--tries", state.options.tries, "Load no more candidates than these")
      ->check(unsigned_number())
      ->capture_default_str();
  command.add_flag("--keep-weights", state.options.keep_weights,
                   "Leave the elements of constants as they are; without it they become zeros");
  command.add_option("--report", state.report, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

}  // namespace

void add_repro(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "repro", "Make the smallest NEFF that still shows a load error, for a bug report");
  auto state = std::make_shared<ReproCommand>();
  command->add_option("FILE", state->file, "A NEFF that does not load")->required();
  command
      ->add_option("-o,--output", state->output,
                   "The NEFF to write (default: FILE's name with .repro.neff, in this folder)")
      ->check(not_empty());
  add_reduction_options(*command, *state);
  // A reduction loads hundreds of broken files: nothing for a device that others use.
  command->add_option("--device", state->loading.device.name, "Simulated device to load on")
      ->check(CLI::IsMember({"sim", "sim:v2", "sim:v3"}))
      ->capture_default_str();
  state->loading.add_plan_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
