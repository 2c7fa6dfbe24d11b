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
  std::string until = "relocate";
  bool json = false, stages = false;

  Result<void> run() {
    options.load = until == "relocate";
    options.ratios = !stages;
    std::vector<bench::FileReport> reports;
    for (const std::string& file : files) {
      auto report = bench::bench_file(file, options);
      if (!report) return tl::unexpected<Error>(in_file(std::move(report.error()), file));
      if (json) {
        reports.push_back(*std::move(report));
      } else {
        NEFFLD_TRY(print_text(bench_text(*report)));
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
  command->add_flag("--json", state->json, "Print one JSON object");
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
