// SPDX-License-Identifier: MIT
#include "neffld/bench.hpp"

#include <algorithm>

#include "device_bench.hpp"
#include "parse_bench.hpp"
#include "relocation_bench.hpp"
#include "subject.hpp"

namespace neffld::bench {
namespace {

Sizes parsed_sizes(const Subject& subject) {
  Sizes sizes;
  sizes.file_bytes = subject.file.size();
  sizes.inflated_bytes = subject.container().facts().inflated_bytes;
  for (const Member* member : subject.json_members()) sizes.json_bytes += member->bytes.size();
  sizes.subgraphs = subject.parsed.kbins.size();
  for (const Kbin& kbin : subject.parsed.kbins) {
    sizes.variables += kbin.variables.size();
    for (const EngineProgram& program : kbin.engines) sizes.slots += program.slot_count();
    for (const Variable& variable : kbin.variables) {
      if (variable.kind == VarKind::file) sizes.weight_bytes += variable.payload.size();
    }
  }
  return sizes;
}

void add_loaded_sizes(Sizes& sizes, const LoadedModel& model, std::span<const Section> sections) {
  for (const KbinPlan& kbin : model.plan.kbins) {
    sizes.elements += kbin.totals.elements;
    for (const RingPlan& ring : kbin.rings) {
      if (ring.tx_request) sizes.ring_descriptors += 2ull * ring.used;
    }
  }
  for (const Section& section : sections) sizes.patches += section.patches.size();
}

/// The order a load has, then what is compared with it.
void sort_ratios(FileReport& report) {
  std::sort(report.ratios.begin(), report.ratios.end(),
            [](const Ratio& a, const Ratio& b) { return a.id < b.id; });
}

Result<FileReport> measure(const std::string& path, const Options& options) {
  FileReport report;
  report.file = path;
  report.rounds = options.rounds;
  NEFFLD_ASSIGN(const Subject subject, Subject::open(path, options));
  report.sizes = parsed_sizes(subject);
  ParseBench parse(subject);
  if (!options.load) {
    for (unsigned round = 0; round < options.rounds; ++round) NEFFLD_TRY(parse.round());
    parse.report(report);
    sort_ratios(report);
    return report;
  }
  DeviceBench device(subject);
  NEFFLD_TRY(device.prepare());
  RelocationBench relocation(device.model(), device.sections());
  for (unsigned round = 0; round < options.rounds; ++round) {
    NEFFLD_TRY(parse.round());
    NEFFLD_TRY(relocation.round());
    NEFFLD_TRY(device.round());
  }
  NEFFLD_TRY(device.finish());
  add_loaded_sizes(report.sizes, device.model(), device.sections());
  parse.report(report);
  relocation.report(report);
  device.report(report);
  if (options.ratios) {
    add_ratio(report, RatioId::relocation, relocation.patch_seconds(), parse.inflate_seconds());
  }
  sort_ratios(report);
  return report;
}

}  // namespace

Result<FileReport> bench_file(const std::string& path, const Options& options) {
  return guarded([&] { return measure(path, options); });
}

}  // namespace neffld::bench
