// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "loading.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

struct InspectCommand {
  LoadingOptions loading;
  std::string report = "text";
  bool members = false;

  Result<void> run() {
    loading.until = "build";
    if (members && report == "json") {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--members"},
                  "lists members as text, expected no --report json");
    }
    NEFFLD_ASSIGN(const Loading result, load_files(loading));
    NEFFLD_TRY(
        print_text(report == "json" ? report_json(result.report) : report_text(result.report)));
    if (!members) return {};
    std::string text = "\n       bytes  member\n";
    for (const ReportItem& item : result.report.items) {
      for (const Member& member : item.parsed->container->members()) {
        fmt::format_to(std::back_inserter(text), "{:>12}  {}\n", member.bytes.size(),
                       one_line(member.name));
      }
    }
    return print_text(text);
  }
};

}  // namespace

void add_inspect(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show what is inside NEFFs: header, tensors, variables, streams; needs no device");
  auto state = std::make_shared<InspectCommand>();
  command->add_option("FILE", state->loading.files, "NEFF files")->required();
  command->add_option("--report", state->report, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--members", state->members, "Also list the archive members (text)");
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
