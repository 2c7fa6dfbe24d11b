// SPDX-License-Identifier: MIT
// Stages guard to build: everything that needs no device (design rule 1).
#include <utility>

#include "neffld/session.hpp"
#include "stager.hpp"
#include "stopwatch.hpp"

namespace neffld {
namespace {

std::uint64_t slot_bytes(const ParsedModel& model) {
  std::uint64_t bytes = 0;
  for (const Kbin& kbin : model.kbins) {
    for (const EngineProgram& program : kbin.engines) bytes += program.slots.size();
  }
  return bytes;
}

bool is_gzip(Bytes file) {
  return file.size() > sizeof(NeffHeader) + 1 && file[sizeof(NeffHeader)] == 0x1F &&
         file[sizeof(NeffHeader) + 1] == 0x8B;
}

Result<ParsedModel> parse(Bytes file, Arch device, const ParseOptions& options) {
  ParsedModel model;
  StageClock clock(model.times, options.progress);

  // Guard: the header gates, before anything else is believed.
  clock.start(Stage::guard);
  NEFFLD_ASSIGN(model.header, check_header(file));
  clock.finish(sizeof(NeffHeader));
  if (options.until == Stage::guard) return model;

  // Parse: integrity, inflate, members.
  clock.start(Stage::parse);
  // Members of an uncompressed payload are views of the file itself, which is only lent to us.
  if (!is_gzip(file)) {
    model.file = std::make_shared<const std::vector<std::uint8_t>>(file.begin(), file.end());
    file = *model.file;
  }
  NEFFLD_ASSIGN(Container container, parse_container(file, options.container));
  model.container = std::make_shared<const Container>(std::move(container));
  clock.finish(model.container->facts().inflated_bytes);
  if (options.until == Stage::parse) return model;

  // Graph: which subgraphs, which inputs and outputs, which architecture.
  clock.start(Stage::graph);
  NEFFLD_ASSIGN(model.manifest, read_manifest(*model.container, options.build.json_depth));
  if (device == Arch::any) {
    device = model.manifest.arch == Arch::any ? Arch::v3 : model.manifest.arch;
  }
  NEFFLD_TRY(check_arch(model.manifest, device, options.build.allow_legacy));
  model.foreign_arch = model.manifest.arch != device;
  clock.finish(0);
  if (options.until == Stage::graph) return model;

  // Build: one section table a core.
  clock.start(Stage::build);
  NEFFLD_ASSIGN(model.kbins, build_kbins(*model.container, model.manifest, options.build));
  clock.finish(slot_bytes(model));
  return model;
}

}  // namespace

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::guard:
      return "guard";
    case Stage::parse:
      return "parse";
    case Stage::graph:
      return "graph";
    case Stage::build:
      return "build";
    case Stage::plan:
      return "plan";
    case Stage::stage:
      return "stage";
    case Stage::relocate:
      return "relocate";
  }
  return "unknown";
}

Result<ParsedModel> parse_model(Bytes file, Arch device, const ParseOptions& options) {
  return guarded([&] { return parse(file, device, options); });
}

Result<Plan> plan_parsed_model(ParsedModel& model, const PlanOptions& options,
                               const ProgressSink& progress) {
  return guarded([&]() -> Result<Plan> {
    StageClock clock(model.times, progress);
    clock.start(Stage::plan);
    NEFFLD_ASSIGN(Plan plan, model.scans ? plan_model(model.kbins, options, *model.scans)
                                         : plan_model(model.kbins, options));
    clock.finish(planned_content_bytes(plan));
    return plan;
  });
}

}  // namespace neffld
