// SPDX-License-Identifier: MIT
#include "subject.hpp"

#include <array>

#include "measure.hpp"

namespace neffld::bench {
namespace {

/// Real files hold these for tools other than loaders (spec 08 section 1.4).
bool is_for_others(std::string_view name) {
  constexpr std::array<std::string_view, 3> others = {"info.json", "metrics.json",
                                                      "tensor_map.json"};
  const std::string_view base = name.substr(name.rfind('/') + 1);
  return std::find(others.begin(), others.end(), base) != others.end();
}

}  // namespace

Result<Subject> Subject::open(const std::string& path, const Options& options) {
  Subject subject{path, options, {}, {}};
  NEFFLD_ASSIGN(subject.file, read_file(path, options.parse.container.limits.file_bytes()));
  NEFFLD_ASSIGN(subject.parsed, parse_model(subject.file, Arch::any, options.parse));
  return subject;
}

Bytes Subject::payload() const {
  return Bytes(file).subspan(sizeof(NeffHeader), container().facts().stored_bytes);
}

std::vector<const Member*> Subject::json_members() const {
  std::vector<const Member*> members;
  for (const Member& member : container().members()) {
    if (member.name.ends_with(".json") && !is_for_others(member.name)) members.push_back(&member);
  }
  return members;
}

void add_row(FileReport& report, std::string name, const Best& best, std::uint64_t bytes,
             std::uint64_t items, std::string item) {
  if (!best.taken()) return;
  report.rows.push_back(
      {std::move(name), best.seconds(), bytes, items, std::move(item), best.faults()});
}

void add_ratio(FileReport& report, RatioId id, double above, double below) {
  if (below > 0) report.ratios.push_back({id, above / below});
}

}  // namespace neffld::bench
