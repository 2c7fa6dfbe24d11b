// SPDX-License-Identifier: MIT
#include "inspection.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "log.hpp"

namespace neffld::nrt {
namespace {

bool write_neff(const std::string& path, Bytes neff) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const auto saved = write_file(path, neff);
  if (!saved) log(Level::warn, "NRT", "nrt_save_neff", to_sentence(saved.error()));
  return saved.has_value();
}

/// The line becomes a part of the failed call's message.
void write_failed_neff(const std::string& path, Bytes neff) {
  if (write_neff(path, neff)) {
    log_inner_error("NRT", "nrt_save_neff", fmt::format("the NEFF is kept in {}", path));
  }
}

}  // namespace

void inspect_loaded(const LoadKnobs& knobs, ModelRecord& record, Bytes neff,
                    const NeffHeader& header) {
  const std::string path =
      fmt::format("{}/neff_{}_{}.neff", knobs.save_folder, header_uuid(header), record.h_nn);
  if (knobs.save_neff) {
    write_neff(path, neff);
  } else if (knobs.save_on_fail) {
    record.kept = std::make_unique<KeptNeff>(path, neff);
  }
}

void inspect_failed_load(const LoadKnobs& knobs, Bytes neff, const NeffHeader& header) {
  if (!knobs.save_on_fail) return;
  write_failed_neff(fmt::format("{}/neff_{}_failed.neff", knobs.save_folder, header_uuid(header)),
                    neff);
}

void inspect_failed_execution(const ModelRecord& record) {
  KeptNeff* const kept = record.kept.get();
  if (kept == nullptr || kept->written.exchange(true)) return;
  write_failed_neff(kept->path, kept->bytes);
}

}  // namespace neffld::nrt
