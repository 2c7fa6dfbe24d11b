// SPDX-License-Identifier: MIT
// The load report in its two forms (design "The report").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neffld/session.hpp"

namespace neffld::cli {

/// One file of a report: what was parsed, and the loaded model if it got that far.
struct ReportItem {
  std::string file;
  const ParsedModel* parsed = nullptr;
  const Plan* plan = nullptr;           ///< from Stage::plan on
  const LoadedModel* loaded = nullptr;  ///< from Stage::stage on
};

struct Report {
  std::string device;  ///< "sim:v3"; empty when no device was opened
  std::string architecture;
  bool simulated = false;
  std::vector<ReportItem> items;
  std::uint64_t ioctls = 0;
};

std::string report_json(const Report& report);
std::string report_text(const Report& report);

/// "float32[2,3]".
std::string tensor_text(std::string_view dtype, const std::vector<std::uint64_t>& shape);

/// Warnings of every stage, in stage order.
std::vector<std::string> model_warnings(const ReportItem& item);

}  // namespace neffld::cli
