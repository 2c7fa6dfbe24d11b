// SPDX-License-Identifier: MIT
#include "repro_report.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "json_out.hpp"

namespace neffld::cli {
namespace {

std::string row(std::string_view what, std::uint64_t before, std::uint64_t after) {
  return fmt::format("  {:<16}{:>14}{:>14}\n", what, before, after);
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += one_line(name);
  }
  return text;
}

std::string sizes(const Repro& repro) {
  std::string text = fmt::format("  {:<16}{:>14}{:>14}\n", "", "before", "after");
  text += row("bytes", repro.before.bytes, repro.after.bytes);
  if (repro.container_damaged) {
    return text + row("payload bytes", repro.before.inflated, repro.after.inflated);
  }
  text += row("inflated bytes", repro.before.inflated, repro.after.inflated);
  text += row("members", repro.before.members, repro.after.members);
  return text + row("slots", repro.before.slots, repro.after.slots);
}

/// What of the user's data is left.
std::string contents(const Repro& repro) {
  if (repro.container_damaged) {
    return "left: bytes of the damaged container as they were, which may hold parts of any member, "
           "weights too\n";
  }
  std::string text =
      fmt::format("left: names and numbers of the JSON; members {}\n", list(repro.members));
  if (!repro.binary_left.empty()) {
    text += fmt::format("      bytes of streams and tables in {}\n", list(repro.binary_left));
  }
  return text + (repro.weights_left.empty()
                     ? std::string("      no weights\n")
                     : fmt::format("      WEIGHTS in {}\n", list(repro.weights_left)));
}

}  // namespace

std::string repro_text(const Repro& repro, const std::string& output) {
  const std::string before = to_sentence(repro.error_before);
  const std::string after = to_sentence(repro.error_after);
  std::string text = fmt::format("error: {}\n", after);
  if (before != after) text += fmt::format("  was: {}\n", before);
  text += sizes(repro);
  text += fmt::format("tried {} files in {:.1f} s, {} showed the error{}\n", repro.work.tried,
                      repro.work.seconds, repro.work.taken,
                      repro.stopped_early
                          ? "; stopped early, more --seconds and --tries may give a smaller file"
                          : "");
  return text + contents(repro) + fmt::format("wrote {}\n", one_line(output));
}

std::string repro_json(const Repro& repro, const std::string& output) {
  JsonOut out;
  const auto size = [&out](std::string_view name, const ReproSize& s) {
    out.object(name, [&] {
      out.field("bytes", s.bytes);
      out.field("inflated_bytes", s.inflated);
      out.field("members", s.members);
      out.field("slots", s.slots);
    });
  };
  out.object([&] {
    out.field("schema", 1u);
    out.field("output", output);
    out.field("error", to_sentence(repro.error_after));
    out.field("error_before", to_sentence(repro.error_before));
    out.field("status", status_name(repro.error_after.status));
    size("before", repro.before);
    size("after", repro.after);
    out.field("container_damaged", repro.container_damaged);
    out.field("tried", repro.work.tried);
    out.field("taken", repro.work.taken);
    out.field("seconds", repro.work.seconds);
    out.field("stopped_early", repro.stopped_early);
    out.strings("members", repro.members);
    out.strings("weights_left", repro.weights_left);
    out.strings("binary_left", repro.binary_left);
  });
  return std::string(out.text()) + "\n";
}

}  // namespace neffld::cli
