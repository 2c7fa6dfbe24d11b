// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "loading.hpp"
#include "plan_report.hpp"

namespace neffld::cli {
namespace {

Arch arch_of(const std::string& name) {
  for (const Arch arch : {Arch::v2, Arch::v3, Arch::v4}) {
    if (arch_name(arch) == name) return arch;
  }
  return Arch::any;
}

/// A file planned for another architecture may name HBMs the device does not have.
Result<void> check_hbms(const Plan& plan, const MemoryMap& map) {
  for (const Request& request : plan.requests) {
    if (request.hbm < map.hbm_count()) continue;
    return fail(Status::resource, ErrorClass::resource, {.path = request.owner},
                fmt::format("is on HBM {}, expected one below {}", request.hbm, map.hbm_count()));
  }
  return {};
}

/// Plans a file on top of what is in `map` and on `cores`, and takes its memory there.
Result<void> plan_onto(PlannedFile& planned, PlanOptions options, MemoryMap& map,
                       std::vector<CoreState>& cores) {
  options.cores = cores;
  NEFFLD_ASSIGN(planned.plan, plan_parsed_model(planned.parsed, options));
  planned.load_requests = planned.plan.requests.size();
  NEFFLD_TRY(plan_bound_rings(planned.parsed.kbins, planned.plan));
  NEFFLD_TRY(check_hbms(planned.plan, map));
  const MemoryMap before = map.copy();
  MemoryForecast predicted = forecast(map, planned.plan);
  planned.regions = std::move(predicted.regions);
  planned.miss = predicted.miss;
  if (planned.miss) planned.ways = ways_to_fit(planned.parsed.kbins, options, before);
  advance(cores, planned.plan);
  return {};
}

struct PlanCommand {
  LoadingOptions loading;
  std::string arch, report = "text";
  std::vector<std::uint64_t> hbm_bytes;

  Result<PlannedFile> parse(const std::string& file, Arch target) const {
    const ParseOptions options = parse_options(loading, Stage::build);
    NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes,
                  read_file(file, options.container.limits.file_bytes()));
    PlannedFile planned;
    planned.file = file;
    NEFFLD_ASSIGN(planned.parsed, parse_model(bytes, target, options));
    return planned;
  }

  Result<void> run_file(const std::string& file, PlanReport& result, std::optional<MemoryMap>& map,
                        std::vector<CoreState>& cores) const {
    NEFFLD_ASSIGN(PlannedFile planned, parse(file, result.arch));
    if (!map) {
      // A file let in for another architecture keeps its own plan, on the HBMs of the device.
      if (result.arch == Arch::any) result.arch = planned.parsed.manifest.arch;
      NEFFLD_ASSIGN(map, MemoryMap::fresh(result.arch, hbm_bytes));
    }
    NEFFLD_TRY(plan_onto(planned, plan_options(loading), *map, cores));
    result.files.push_back(std::move(planned));
    return {};
  }

  Result<void> run() const {
    PlanReport result;
    result.arch = arch_of(arch);
    std::optional<MemoryMap> map;
    std::vector<CoreState> cores;
    for (const std::string& file : loading.files) {
      if (auto done = run_file(file, result, map, cores); !done) {
        return tl::unexpected<Error>(in_file(std::move(done.error()), file));
      }
      if (result.files.back().miss) break;
    }
    for (std::uint32_t i = 0; i < map->hbm_count(); ++i) result.hbms.push_back(map->hbm(i));
    NEFFLD_TRY(print_text(report == "json" ? plan_json(result) : plan_text(result)));
    const PlannedFile& last = result.files.back();
    if (!last.miss) return {};
    return fail(Status::resource, ErrorClass::check, {.member = last.file},
                last.miss->short_by
                    ? fmt::format("does not fit, it misses by {} bytes", *last.miss->short_by)
                    : std::string("does not fit, and would not with HBMs of any size"));
  }
};

}  // namespace

void add_plan(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "plan", "Show the memory NEFFs will take and whether it is there; needs no device");
  auto state = std::make_shared<PlanCommand>();
  command->add_option("FILE", state->loading.files, "NEFF files, loaded one after the other")
      ->required();
  command->add_option("--arch", state->arch, "Architecture to load on; default: the file's")
      ->check(CLI::IsMember({"v2", "v3", "v4"}));
  command
      ->add_option("--hbm", state->hbm_bytes,
                   "Size of the HBMs: one for all or one each; default: the architecture's")
      ->transform(CLI::AsSizeValue(false))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  state->loading.add_plan_options(*command);
  state->loading.add_parse_options(*command);
  command->add_option("--report", state->report, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
