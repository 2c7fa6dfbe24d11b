// SPDX-License-Identifier: MIT
// neffld conformance: asks a driver what tests/cts knows a Neuron driver answers.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "json_out.hpp"
#include "loading.hpp"
#include "runner.hpp"
#include "version.hpp"

namespace neffld::cli {
namespace {

using cts::ExclusionList;
using cts::Facts;
using cts::For;
using cts::Lists;
using cts::Row;
using cts::RowResult;
using cts::Safety;
using cts::Selection;
using cts::Target;
using cts::TargetOptions;
using cts::Verdict;

constexpr std::array verdicts = {Verdict::passed,           Verdict::failed,
                                 Verdict::expected_failure, Verdict::unexpected_pass,
                                 Verdict::unsupported,      Verdict::skipped};

struct Counts {
  std::array<std::uint32_t, verdicts.size()> of{};

  void add(Verdict verdict) { ++of[static_cast<std::size_t>(verdict)]; }
  std::uint32_t errors() const {
    std::uint32_t sum = 0;
    for (const Verdict verdict : verdicts) {
      if (cts::is_error(verdict)) sum += of[static_cast<std::size_t>(verdict)];
    }
    return sum;
  }
  /// "12 pass, 1 FAIL": what there is.
  std::string text() const {
    std::string text;
    for (const Verdict verdict : verdicts) {
      const std::uint32_t count = of[static_cast<std::size_t>(verdict)];
      if (count == 0) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cts::verdict_name(verdict));
    }
    return text;
  }
};

struct Conformance {
  TargetOptions target;
  Selection selection;
  std::string sim_driver = "2.24";
  std::string report = "text";
  std::string unsupported_file, expected_failure_file;
  bool list = false;

  Result<void> run();

 private:
  Result<void> print_list(const std::vector<const Row*>& chosen) const;
  Result<void> print_text_report(const std::vector<RowResult>& results, const Facts& facts) const;
  Result<void> print_json(const std::vector<RowResult>& results, const Facts& facts) const;
  Result<Lists> lists() const;
};

std::string_view architectures_name(For architectures) {
  switch (architectures) {
    case For::v2:
      return "v2";
    case For::v3:
      return "v3";
    case For::both:
      break;
  }
  return "v2 v3";
}

std::string_view safety_name(Safety safety) {
  switch (safety) {
    case Safety::harmless:
      return "harmless";
    case Safety::intrusive:
      return "intrusive";
    case Safety::simulated:
      break;
  }
  return "simulated only";
}

Result<void> Conformance::print_list(const std::vector<const Row*>& chosen) const {
  std::string text;
  for (const Row* row : chosen) {
    text +=
        fmt::format("{:<46} {:<6} {:<15} spec {}\n", row->name,
                    architectures_name(row->architectures), safety_name(row->safety), row->spec);
  }
  return print_text(text + fmt::format("{} rows\n", chosen.size()));
}

Counts count(const std::vector<RowResult>& results) {
  Counts counts;
  for (const RowResult& result : results) counts.add(result.verdict);
  return counts;
}

std::string driver_text(const Facts& facts) {
  return fmt::format("{} ({}), driver interface 2.{}{}", facts.name, facts.kind, facts.generation,
                     facts.clean ? ", clean errors" : "");
}

Result<void> Conformance::print_text_report(const std::vector<RowResult>& results,
                                            const Facts& facts) const {
  std::string text = fmt::format("device {}\n", driver_text(facts));
  for (std::size_t first = 0; first < results.size();) {
    const std::string_view group = results[first].row->group();
    Counts counts;
    std::size_t next = first;
    for (; next < results.size() && results[next].row->group() == group; ++next) {
      const RowResult& result = results[next];
      counts.add(result.verdict);
      text += fmt::format("  {:<16} {}{}{}\n", cts::verdict_name(result.verdict), result.row->name,
                          result.text.empty() ? "" : ": ", one_line(result.text));
      if (cts::is_error(result.verdict))
        text += fmt::format("{:19}spec {}\n", "", result.row->spec);
    }
    text += fmt::format("{}: {}\n", group, counts.text());
    first = next;
  }
  return print_text(text + fmt::format("{} rows: {}\n", results.size(), count(results).text()));
}

Result<void> Conformance::print_json(const std::vector<RowResult>& results,
                                     const Facts& facts) const {
  const Counts counts = count(results);
  JsonOut json;
  json.object([&] {
    json.field("schema", 1u);
    json.field("neffld", version);
    json.object("device", [&] {
      json.field("name", facts.name);
      json.field("kind", facts.kind);
      json.field("architecture", facts.architecture);
      json.field("driver_interface", fmt::format("2.{}", facts.generation));
      json.field("clean_errors", facts.clean);
    });
    json.object("counts", [&] {
      for (const Verdict verdict : verdicts) {
        json.field(cts::verdict_name(verdict), counts.of[static_cast<std::size_t>(verdict)]);
      }
    });
    json.array("rows", results, [&](const RowResult& result) {
      json.object([&] {
        json.field("name", result.row->name);
        json.field("group", result.row->group());
        json.field("verdict", cts::verdict_name(result.verdict));
        json.field("spec", result.row->spec);
        json.field("text", result.text);
      });
    });
  });
  return print_text(fmt::format("{}\n", json.text()));
}

Result<Lists> Conformance::lists() const {
  const auto from = [](const std::string& file, std::string_view built_in, const char* name) {
    return file.empty() ? ExclusionList::parse(built_in, name) : ExclusionList::read(file);
  };
  Lists lists;
  NEFFLD_ASSIGN(lists.unsupported,
                from(unsupported_file, cts::built_in_unsupported(), "unsupported.txt"));
  NEFFLD_ASSIGN(
      lists.expected_failure,
      from(expected_failure_file, cts::built_in_expected_failure(), "expected-failure.txt"));
  return lists;
}

Result<void> Conformance::run() {
  NEFFLD_ASSIGN(const std::vector<const Row*> chosen, select(selection));
  if (list) return print_list(chosen);
  NEFFLD_ASSIGN(const Lists excluded, lists());
  target.sim_driver = sim_driver == "2.27" ? 27 : sim_driver == "2.30" ? 30 : 24;
  NEFFLD_ASSIGN(const std::unique_ptr<Target> device, cts::make_target(target));
  NEFFLD_ASSIGN(const std::vector<RowResult> results,
                cts::run(*device, chosen, selection, excluded));
  NEFFLD_TRY(report == "json" ? print_json(results, device->facts())
                              : print_text_report(results, device->facts()));
  const std::uint32_t errors = count(results).errors();
  if (errors == 0) return {};
  return fail(Status::failure, ErrorClass::check, {.member = device->facts().name},
              fmt::format("{} of {} rows failed", errors, results.size()));
}

}  // namespace

void add_conformance(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "conformance",
      "Test a driver against the behaviour of the Neuron driver, row by row; exit 1 "
      "if a row fails");
  auto state = std::make_shared<Conformance>();
  command
      ->add_option("--device", state->target.device,
                   "sim (v3), sim:v2, sim:v3 or the path of a node")
      ->envname("NEFFLD_DEVICE")
      ->capture_default_str();
  command->add_flag("--all", state->selection.all,
                    "On a device that is not simulated also run rows that change cores, queues and "
                    "registers; nobody else may use it");
  command->add_flag("--fresh", state->target.fresh,
                    "Nobody has used the node since its driver was loaded: also run the rows about "
                    "that state, one a run (--filter)");
  command->add_flag("--list", state->list, "Print the rows instead of running them");
  command->add_option("--group", state->selection.groups, "Only rows of this group (repeatable)");
  command->add_option("--filter", state->selection.filter, "Only rows with this in their name");
  command->add_option("--report", state->report, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--unsupported", state->unsupported_file,
                      "List of rows not to run, instead of the built-in one");
  command->add_option("--expected-failure", state->expected_failure_file,
                      "List of rows known to fail, instead of the built-in one");
  command
      ->add_option("--device-prefix", state->target.nodes.prefix, "Name of the nodes in messages")
      ->capture_default_str();
  command
      ->add_option("--sim-driver", state->sim_driver,
                   "Driver generation a simulated device plays: 2.24, 2.27 or 2.30")
      ->check(CLI::IsMember({"2.24", "2.27", "2.30"}))
      ->capture_default_str();
  command->add_flag("--sim-clean-errors", state->target.sim_clean_errors,
                    "A simulated device answers errnos where the driver returns positive residues");
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
