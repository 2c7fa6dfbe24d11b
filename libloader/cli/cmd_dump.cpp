// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "loading.hpp"
#include "neffld/device_image.hpp"
#include "output_folder.hpp"

namespace neffld::cli {
namespace {

struct DumpCommand {
  LoadingOptions loading;
  std::string output, report, rings;
  bool zstd = false;

  Result<void> run() {
    NEFFLD_TRY(check_output(output, loading.files));
    NEFFLD_TRY(check_output(report, loading.files));
    NEFFLD_TRY(check_output(report, {output}));
    NEFFLD_TRY(check_output(loading.device.record, {output, report}));
    NEFFLD_TRY(check_output(rings, {output, report, loading.device.record}));
    NEFFLD_TRY(check_writable(output));  // before the work, and before one replaces what was there
    if (!report.empty()) NEFFLD_TRY(check_writable(report));
    std::optional<OutputFolder> folder;
    if (!rings.empty()) {
      NEFFLD_ASSIGN(folder, OutputFolder::open(rings, true));
    }
    NEFFLD_ASSIGN(Loading result, load_files(loading));
    if (folder) NEFFLD_TRY(write_vrings(*result.session, *folder));
    NEFFLD_TRY(write_core_image(*result.session, output, zstd));
    if (!report.empty()) {
      NEFFLD_TRY(write_file(report, as_bytes(report_json(result.report))));
    }
    if (folder) folder->keep();
    return result.close();
  }

  /// The vrings of all models; those of several begin with the model's number, because subgraphs of
  /// different models have the same names.
  Result<void> write_vrings(const Session& session, OutputFolder& folder) const {
    std::vector<std::string> taken = loading.files;
    taken.insert(taken.end(), {output, report, loading.device.record});
    std::size_t number = 0;
    for (const auto& model : session.models()) {
      const std::string prefix =
          session.models().size() > 1 ? fmt::format("{}.", number++) : std::string();
      const auto write = [&](const HostVring& vring) -> Result<void> {
        const Kbin& kbin = model->parsed.kbins[vring.kbin];
        const RingPlan& ring = *vring.ring;
        const std::string& queue = kbin.queue_sets[ring.queue_set].name;
        const std::string name =
            ring_file_name(prefix, kbin.name, queue, ring.instance, ring.k, vring.tx);
        NEFFLD_TRY(check_output(folder.path_of(name), taken));
        NEFFLD_ASSIGN(NewFile file, folder.create(name));
        NEFFLD_TRY(file.append(vring.bytes));
        return file.finish();
      };
      NEFFLD_TRY(author_template_vrings(model->parsed.kbins, model->plan, model->addresses, write));
    }
    return {};
  }
};

}  // namespace

void add_dump(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "dump", "Load NEFFs and write the device memory of every allocation as an ELF core file");
  auto state = std::make_shared<DumpCommand>();
  command->add_option("FILE", state->loading.files, "NEFF files")->required();
  command->add_option("-o,--output", state->output, "The ELF file to write")
      ->required()
      ->check(not_empty());
  command->add_option("--report", state->report, "Also write the JSON report to this file")
      ->check(not_empty());
  command
      ->add_option("--rings", state->rings,
                   "Also write the host vrings of template queue sets into this folder")
      ->check(not_empty());
  command->add_flag("--zstd", state->zstd, "Compress the ELF file");
  state->loading.add_device_options(*command);
  state->loading.add_record_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
