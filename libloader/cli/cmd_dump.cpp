// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "loading.hpp"
#include "neffld/device_image.hpp"

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
    NEFFLD_ASSIGN(Loading result, load_files(loading));
    NEFFLD_TRY(write_core_image(*result.session, output, zstd));
    if (!report.empty()) {
      NEFFLD_TRY(write_file(report, as_bytes(report_json(result.report))));
    }
    if (!rings.empty()) {
      for (const auto& model : result.session->models()) NEFFLD_TRY(write_vrings(*model));
    }
    return result.close();
  }

  Result<void> write_vrings(const LoadedModel& model) const {
    std::error_code error;
    std::filesystem::create_directories(rings, error);
    if (error) {
      return fail(Status::failure, ErrorClass::file, {.member = rings},
                  fmt::format("cannot create the folder: {}", error.message()));
    }
    return author_template_vrings(
        model.parsed.kbins, model.plan, model.addresses,
        [&](const HostVring& vring) -> Result<void> {
          const Kbin& kbin = model.parsed.kbins[vring.kbin];
          std::string name = kbin.queue_sets[vring.ring->queue_set].name;
          for (char& c : name) {
            if (c == '/' || c == '\0') c = '_';  // queue names are free text, file names are not
          }
          return write_file(
              fmt::format("{}/{}.{}.{}.{}.{}.bin", rings, kbin.name, name, vring.ring->instance,
                          vring.ring->k, vring.tx ? "tx" : "rx"),
              vring.bytes);
        });
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
