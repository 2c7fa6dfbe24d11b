// SPDX-License-Identifier: MIT
#include <memory>

#include "bench_report.hpp"
#include "commands.hpp"
#include "loading.hpp"

namespace neffld::cli {
namespace {

struct BenchCommand {
  std::vector<std::string> files;
  bench::Options options;
  std::string until = "relocate", report = "text";
  bool stages = false;

  Result<void> run() {
    options.load = until == "relocate";
    options.ratios = !stages;
    const bool json = report == "json";
    std::vector<bench::FileReport> reports;
    for (const std::string& file : files) {
      auto measured = bench::bench_file(file, options);
      if (!measured) return tl::unexpected<Error>(in_file(std::move(measured.error()), file));
      if (json) {
        reports.push_back(*std::move(measured));
      } else {
        NEFFLD_TRY(print_text(bench_text(*measured)));
      }
    }
    return json ? print_text(bench_json(reports)) : Result<void>();
  }
};

}  // namespace

void add_bench(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "bench", "Measure where the time of loading a NEFF goes, on the simulated device");
  auto state = std::make_shared<BenchCommand>();
  command->add_option("FILE", state->files, "NEFF files, measured one after the other")->required();
  command->add_option("--rounds", state->options.rounds, "Rounds; the best time of each counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--until", state->until,
                   "Stop after build (no device, any number of subgraphs) or relocate")
      ->check(CLI::IsMember({"build", "relocate"}))
      ->capture_default_str();
  command->add_flag("--stages", state->stages,
                    "Only the table of stages: nothing is compared with anything");
  command->add_option("--report", state->report, "text, or json: one object for all files")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
